// Refuses a shell command unless it only reads, with the commands that are allowed.
// As a program, a hook: takes those as arguments and {"tool_input": {"command": "…"}} on stdin; ends with 2,
// with the reason on stderr, to refuse.
'use strict';
const WORD = /'[^']*'|"(?:[^"\\$`]|\\.)*"|\\.|[^\s'"\\|&;<>(){}$`#]+/y;
const BETWEEN = /\|\||&&|\||;/y;
const QUIET = /(?:2>&1|2?>\s*\/dev\/null)(?=[\s|&;]|$)/y;
const FINDS_AND_DOES = /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/;
const WRITES = {sort: /^(-\w*o|--o|--co)/, file: /^(-\w*C|--co)/};
const GLOB = /[*?[]/;
const MAY_BE_OPTION = /^[-*?[]/;

// uniq writes into a second file.
const TAKES_NUMBER = /^(-[A-Za-z]*[fsw]|--(skip-fields|skip-chars|check-chars))$/;
const isFile = (word, at, words) => word === '-' || !(word.startsWith('-') || TAKES_NUMBER.test(words[at - 1] ?? ''));
const uniqWrites = (words, globs) => globs.length > 0 || words.includes('--') || words.filter(isFile).length > 1;

// The words of each command, and which of them the shell replaces by names of files.
function commands(text) {
  const found = [{words: [], globs: []}];
  let word = '', glob = false, inWord = false, at = 0;
  const take = pattern => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match && match[0];
  };
  const end = () => {
    if (inWord) found.at(-1).words.push(word);
    if (glob) found.at(-1).globs.push(word);
    word = ''; glob = inWord = false;
  };
  while (at < text.length) {
    let piece;
    if (take(/[ \t]+/y)) end();
    else if (!inWord && take(QUIET)) continue;
    else if (take(BETWEEN)) { end(); found.push({words: [], globs: []}); }
    else if (piece = take(WORD)) {
      word += piece.replace(/^(['"])(.*)\1$/s, '$2').replace(/^\\/, '');
      glob ||= !/^['"\\]/.test(piece) && GLOB.test(piece);
      inWord = true;
    }
    else return null;
  }
  end();
  return found;
}

function refusal(text, allowed) {
  const found = commands(text.trim());
  if (found === null) return 'only simple commands, joined by | ; && or ||, may be used';
  for (const [index, {words: [name, ...words], globs}] of found.entries()) {
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

module.exports = {refusal};

if (require.main === module) {
  const {tool_input: input} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const reason = refusal(String(input?.command ?? ''), process.argv.slice(2));
  if (reason !== null) {
    process.stderr.write(`Refused: ${reason}\n`);
    process.exit(2);
  }
}
