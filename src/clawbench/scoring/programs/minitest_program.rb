# frozen_string_literal: true

# Runs tests of one minitest file and reports each over descriptor 3. The tests and the code they test share
# this process: what the report rests on is taken hold of first, and a framework that changed fails them.

require "json"
require "minitest"

FRAMEWORK = [
  Minitest, Minitest::Assertions, Minitest::Runnable, Minitest::Test, Minitest::Result, Minitest::Reportable,
  Minitest::Guard, Minitest::Assertion, Minitest::Test::LifecycleHooks
].flat_map { |part| [part, part.singleton_class] }.freeze

# Methods that tests add are theirs; what the framework answers to must be answered by the same methods afterwards.
def framework_state(known = nil)
  known ||= FRAMEWORK.map do |part|
    names = part.instance_methods + part.private_instance_methods
    names.select { |name| part.instance_method(name).owner.to_s.include?("Minitest") }
  end
  [known, FRAMEWORK.zip(known).map { |part, names| names.map { |name| [name, part.instance_method(name)] } }]
rescue NameError
  [known, nil]
end

def outcome_of(test, name)
  return ["missing", "the file has no such test"] if test.nil? || !test.method_defined?(name)

  result = test.new(name).run
  return ["skipped", result.failures.first.message] if result.skipped?
  return ["passed", ""] if result.passed?

  [result.error? ? "error" : "failed", result.failures.map(&:message).join("\n")[0, 4000]]
end

channel = IO.for_fd(3, "r+b", autoclose: false)
channel.close_on_exec = true
nonce = +""
nonce << channel.sysread(32 - nonce.bytesize) while nonce.bytesize < 32
write = IO.instance_method(:syswrite).bind(channel)
generate = JSON.method(:generate)
leave = Process.method(:exit!)
state = method(:framework_state)
judge = method(:outcome_of)
process = Process.pid
send_frame = lambda do |frame|
  write.call("#{nonce} #{generate.call(frame)}\n") if Process.pid == process
end

file, *names = ARGV
ARGV.clear
send_frame.call({ hello: RUBY_VERSION })
known, before = state.call
root = Dir.pwd
$LOAD_PATH.push(File.join(root, "lib"), File.join(root, "test"))
problem = nil
begin
  load File.join(root, file)
rescue Exception => e # rubocop:disable Lint/RescueException (exit is one)
  problem = "#{e.class}: #{e.full_message(highlight: false)}"
  warn problem
end
outcomes = names.map do |name|
  owner, method = name.split("#", 2)
  test = Minitest::Runnable.runnables.find { |one| one.name == owner }
  [name, *(problem ? ["error", problem[0, 4000]] : judge.call(test, method))]
rescue Exception => e # rubocop:disable Lint/RescueException
  [name, "error", "#{e.class}: #{e.message}"[0, 4000]]
end
unchanged = state.call(known)[1] == before
outcomes.each do |name, status, detail|
  status, detail = "tampered", "the test framework was changed while it ran" unless unchanged
  puts "#{status} #{name}"
  warn detail unless detail.to_s.empty?
  send_frame.call({ test: name, status: status, detail: detail.to_s.scrub })
end
$stdout.flush
send_frame.call({ end: names.length })
leave.call(0)
