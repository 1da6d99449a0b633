//! Runs tests of one file and reports each over descriptor 3: linked into the test program as its test runner.

#![feature(test)]

extern crate test;

use std::fs::File;
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};

const CHANNEL: i32 = 3;

/// Test functions return nothing or a result, by version of the compiler.
trait Returned {
    fn verdict(self) -> Result<(), String>;
}

impl Returned for () {
    fn verdict(self) -> Result<(), String> {
        Ok(())
    }
}

impl Returned for Result<(), String> {
    fn verdict(self) -> Result<(), String> {
        self
    }
}

struct Channel {
    file: ManuallyDrop<File>,
    nonce: String,
}

impl Channel {
    fn open() -> Channel {
        let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(CHANNEL) });
        let mut nonce = [0; 32];
        file.read_exact(&mut nonce).expect("the channel ended before the nonce did");
        Channel { file, nonce: String::from_utf8_lossy(&nonce).into_owned() }
    }

    fn send(&mut self, frame: &str) {
        let line = format!("{} {{{}}}\n", self.nonce, frame);
        self.file.write_all(line.as_bytes()).expect("the channel is closed");
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for unit in text.chars().take(4000).collect::<String>().encode_utf16() {
        match unit {
            0x22 | 0x5c => quoted.push_str(&format!("\\u{:04x}", unit)),
            0x20..=0x7e => quoted.push(unit as u8 as char),
            _ => quoted.push_str(&format!("\\u{:04x}", unit)),
        }
    }
    quoted.push('"');
    quoted
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text").to_string()
}

fn attempt(test: &test::TestDescAndFn) -> Result<(), String> {
    match &test.testfn {
        test::TestFn::StaticTestFn(body) => {
            catch_unwind(AssertUnwindSafe(|| body().verdict())).unwrap_or_else(|payload| Err(message(&*payload)))
        }
        _ => Err("not a plain test function".to_string()),
    }
}

fn outcome(test: &test::TestDescAndFn) -> (&'static str, String) {
    if test.desc.ignore {
        return ("skipped", String::new());
    }
    let ended = attempt(test);
    let as_it_should = match (&test.desc.should_panic, &ended) {
        (test::ShouldPanic::No, ended) => ended.is_ok(),
        (test::ShouldPanic::Yes, ended) => ended.is_err(),
        (test::ShouldPanic::YesWithMessage(text), Err(said)) => said.contains(*text),
        (test::ShouldPanic::YesWithMessage(_), Ok(())) => false,
    };
    (if as_it_should { "passed" } else { "failed" }, ended.err().unwrap_or_default())
}

pub fn run(tests: &[&test::TestDescAndFn]) {
    let mut channel = Channel::open();
    channel.send("\"hello\": \"rust\"");
    let names: Vec<String> = std::env::args().skip(1).collect();
    for name in &names {
        let found: Vec<_> = tests.iter().filter(|test| test.desc.name.as_slice() == name).collect();
        let (status, detail) = match found.as_slice() {
            [test] => outcome(test),
            _ => ("missing", "the file has no such test".to_string()),
        };
        println!("{} {}", status, name);
        let result = format!("\"test\": {}, \"status\": {}, \"detail\": {}", quoted(name), quoted(status), quoted(&detail));
        channel.send(&result);
    }
    channel.send(&format!("\"end\": {}", names.len()));
}
