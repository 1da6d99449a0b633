// Refuses a shell command unless it only reads, with the commands that are allowed.
// As a program, a hook: takes those as arguments and {"tool_input": {"command": "…"}} on stdin; ends with 2,
// with the reason on stderr, to refuse.
'use strict';
// A $ that no name follows, as in "end$" or "(a$|b$)", is itself.
const WORD = /'[^']*'|"(?:[^"\\$`]|\\.|\$(?=[" \t\n|)]))*"|\\.|\$(?=[ \t\n]|$)|[^\s'"\\|&;<>(){}$`#]+/y;
const BETWEEN = /\|\||&&|\||;/y;
const DESCRIPTOR = /\d(?=[<>])/y;  // sh knows no more than one digit
const QUIET = /(?:>&[12]|&?>>?[ \t]*\/dev\/null)(?=[ \t\n|&;<>]|$)/y;
const FINDS_AND_DOES = /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/;
const WRITES = {sort: /^(-\w*o|--o|--co)/, file: /^(-\w*C|--co)/};
const GLOB = /[*?[]/;
const MAY_BE_OPTION = /^[-*?[]/;
const CONNECTS = /^\/dev\/(tcp|udp)\//;  // in bash
const SIMPLE = 'only simple commands, joined by | ; && || or new lines, may be used: no $ or ` outside \'…\', '
  + 'no ( ) { } # & or \\ before a new line outside quotes, no redirections but < FILE, >/dev/null and 2>&1';

// uniq writes into a second file.
const TAKES_NUMBER = /^(-[A-Za-z]*[fsw]|--(skip-fields|skip-chars|check-chars))$/;
const isFile = (word, at, words) => word === '-' || !(word.startsWith('-') || TAKES_NUMBER.test(words[at - 1] ?? ''));
function uniqWrites(words, globs) {
  const last = words.includes('--') ? words.indexOf('--') : words.length;
  return globs.length > 0 || words.slice(0, last).filter(isFile).length + words.slice(last + 1).length > 1;
}

// The words of each command, which of them the shell replaces by names of files, and the files it reads from.
function commands(text) {
  const found = [];
  let word = '', glob = false, inWord = false, input = false, at = 0;
  const begin = () => found.push({words: [], globs: [], inputs: []});
  const take = pattern => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match && match[0];
  };
  const end = () => {
    if (!inWord) return;
    found.at(-1)[input ? 'inputs' : 'words'].push(word);
    if (glob && !input) found.at(-1).globs.push(word);
    word = ''; glob = inWord = input = false;
  };
  begin();
  while (at < text.length) {
    let piece;
    if (take(/[ \t]+/y)) end();
    else if (!inWord && !input && take(DESCRIPTOR)) continue;
    else if (piece = take(WORD)) {
      word += piece.replace(/^(['"])(.*)\1$/s, '$2').replace(/^\\/, '');
      glob ||= !/^['"\\]/.test(piece) && GLOB.test(piece);
      inWord = true;
    }
    else if (input && !inWord) return null;
    else if (take(QUIET)) end();
    else if (take(/</y)) { end(); input = true; }
    else if (take(/\n/y)) { end(); if (found.at(-1).words.length > 0) begin(); }
    else if (take(BETWEEN)) { end(); begin(); }
    else return null;
  }
  end();
  return input ? null : found;
}

function refusal(text, allowed) {
  const found = commands(text);
  if (found === null) return SIMPLE;
  for (const [index, {words: [name, ...words], globs, inputs}] of found.entries()) {
    if (inputs.some(file => CONNECTS.test(file))) return 'no connections may be opened';
    if (name === undefined && index > 0 && index === found.length - 1) continue;
    if (!allowed.includes(name)) return `${name ?? 'nothing'} may not be used, only: ${allowed.join(', ')}`;
    const reason = writing(name, words, globs);
    if (reason !== null) return reason;
  }
  return null;
}

function writing(name, words, globs) {
  if (name === 'uniq') return uniqWrites(words, globs) ? 'uniq may only read one file' : null;
  if (name === 'find' && words.some(word => FINDS_AND_DOES.test(word))) return 'find may only look';
  if (WRITES[name] && words.some(word => WRITES[name].test(word))) return `${name} may not write`;
  const option = (name === 'find' || WRITES[name]) && globs.find(word => MAY_BE_OPTION.test(word));
  return option ? `${option} could become an option: quote it, or begin with ./` : null;
}

// What cannot be checked is refused: to those who ask, any other end than 2 means that nothing speaks against it.
function answer() {
  try {
    const {tool_input: input} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
    return refusal(String(input?.command ?? ''), process.argv.slice(2));
  } catch (error) {
    return `the command could not be checked (${error.message})`;
  }
}

module.exports = {refusal};

if (require.main === module) {
  const reason = answer();
  if (reason !== null) {
    process.stderr.write(`Refused: ${reason}\n`);
    process.exit(2);
  }
}
