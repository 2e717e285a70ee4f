import { readFileSync } from 'node:fs'

/** A sentence of a page that a reader may have to read twice. */
export interface Finding {
  line: number
  rule: string
  text: string
}

/** A finding for a person to read. */
export const shown = (place: string, { line, rule, text }: Finding): string => `${place}:${line} ${rule}: ${text}`

/** The most words of a sentence. A piece of code counts as one. */
const maxWords = 25

/** A word or phrase that is not a term of the field, as a pattern, and what to write instead. */
interface Avoided {
  avoid: string
  use: string
}

/** words.json: phrases of comments, messages and docs, and words of identifiers. */
interface WordList {
  prose: readonly Avoided[]
  identifiers: readonly string[]
}

const { prose, identifiers }: WordList = JSON.parse(readFileSync(new URL('words.json', import.meta.url), 'utf8'))
const wordRules = prose.map(({ avoid, use }) => ({ pattern: new RegExp(`\\b(?:${avoid})\\b`, 'i'), use }))

/** The words of the list in a sentence, with what to write instead. */
function avoidedIn(text: string): string[] {
  return wordRules.flatMap(({ pattern, use }) => {
    const [word] = pattern.exec(text) ?? []
    return word === undefined ? [] : [`"${word.toLowerCase()}", write: ${use}`]
  })
}

/** Matches the words of the list inside an identifier, in camel case. `Usage.beside` is a key on disk, and keeps its name. */
const privateWord = new RegExp(
  `(?:${identifiers.flatMap((word) => [`(?<![a-zA-Z])${word}`, `${word[0]?.toUpperCase()}${word.slice(1)}`]).join('|')})(?![a-z])`,
)

/** Returns whether an identifier contains a word outside the field's terms. */
export function isPrivateName(name: string): boolean {
  return privateWord.test(name)
}

const farNoun = 'it, far from its noun'
const whatClause = 'what-clause as the subject'

/** What a sentence is not to do. Words of the field that look like it are in `accepted`. */
const rules: readonly { name: string; pattern: RegExp }[] = [
  // "What a variable completes counts as leading anywhere."
  { name: whatClause, pattern: /^What (?!is |are |to |happens |each |it |they |you |does |do )[^?]+\.$/ },
  // "Of one that was stopped the text is sent."
  { name: 'inverted clause', pattern: /^(?:Of (?:a|an|one|what|several|them)\b|Nor\b|Neither does\b|So (?:it is|does|is)\b)/ },
  // A paragraph or item that begins with a word for something before it.
  { name: farNoun, pattern: /^(?:Its|Theirs) / },
  // "Absent is absent."
  { name: 'aphorism', pattern: /^(?!.*\bcode\b)(?:\w+ is \w+|[A-Z]\w+ has its \w+|Every \w+ has its \w+)\.$/ },
]

/** Short sentences that look like an aphorism and say something. */
const accepted = new Set(['Order is kept.', 'Nothing is collected.'])

/** Everything in a page that a person reads as a sentence, with its line. */
function* sentencesOf(markdown: string): Generator<{ line: number; text: string }> {
  let isCode = false
  for (const [at, raw] of markdown.split('\n').entries()) {
    if (raw.startsWith('```')) isCode = !isCode
    if (isCode || /^(?:```|#|<|\s*\|[-| ]+\|$)/.test(raw)) continue
    const cells = raw.startsWith('|') ? raw.split('|') : [raw]
    for (const cell of cells) {
      const plain = cell
        .replace(/^\s*(?:[-*>]|\d+\.)\s+(?:\[.\]\s+)?/, '')
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/`[^`]*`/g, 'code')
        .replace(/\*\*/g, '')
        .trim()
      for (const [sentence] of plain.matchAll(/[^.!?]+(?:[.!?](?!\s|$)[^.!?]*)*(?:[.!?](?=\s|$)|$)/g))
        yield { line: at + 1, text: sentence.trim() }
    }
  }
}

/** What a page has that a reader should not meet. */
export function findingsIn(markdown: string): Finding[] {
  const found: Finding[] = []
  for (const { line, text } of sentencesOf(markdown)) {
    if (accepted.has(text)) continue
    const isCell = markdown.split('\n')[line - 1]?.startsWith('|') === true
    for (const { name, pattern } of rules) {
      if (pattern.test(text) && !(isCell && name === farNoun)) found.push({ line, rule: name, text })
    }
    for (const rule of avoidedIn(text)) found.push({ line, rule, text })
    const words = text.split(/\s+/).filter((word) => /\w/.test(word)).length
    if (words > maxWords && !/ · /.test(text)) found.push({ line, rule: `${words} words`, text })
  }
  return found
}

/** The same for a comment of the code. The first sentence may be a phrase that says what a name stands for: "What a run came to.", "Its key." */
export function findingsInComment(comment: string): Finding[] {
  const joined = comment.replace(/([^\n])\n(?!\n|[-*|`#>]|\d+\. )/g, '$1 ')
  const first = joined.split(/\.(?:\s|$)/)[0] ?? ''
  return findingsIn(joined).filter(
    ({ rule, text }) => (rule !== whatClause && rule !== farNoun) || text.replace(/\.$/, '') !== first.replace(/`[^`]*`/g, 'code'),
  )
}

/** The sentences that code says to people: texts of three words and more that end as a sentence does. */
export function messagesIn(code: string): string[] {
  const withoutComments = code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const literals = withoutComments.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)
  return Array.from(literals, ([, plain, template]) => (plain ?? template ?? '').replace(/\$\{[^}]*\}/g, 'code')).filter((text) =>
    /^\S+ \S+ \S+[\s\S]*[.!?]$/.test(text),
  )
}
