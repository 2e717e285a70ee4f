import { globSync, readFileSync } from 'node:fs'

/** Code that stands in a sentence: its page, and the code without its backticks. */
export interface ProseCode {
  page: string
  code: string
}

const textOf = (paths: readonly string[]): string => paths.map((path) => readFileSync(path, 'utf8')).join('\n')

/** What this project is written in, and what its tests say that services send. The pages and the tests of pages are no proof of themselves. */
const ownCode = textOf(
  globSync([
    '{src,testing,adapters,scripts,e2e,examples}/**/*.{ts,tsx,js,mjs,vue,svelte}',
    'playground/{src,public}/**/*.{ts,tsx,js}',
    'package.json',
  ])
    .concat(globSync('test/**/*.{ts,json,jsonl,sse,txt,toml,yaml}').filter((path) => !path.replaceAll('\\', '/').startsWith('test/docs')))
    .filter((path) => !path.includes('node_modules')),
)

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/[A-Za-z_$][\w$]*/g))
const ownWords = wordsOf(ownCode)

/** Names that packages declare which we use: of the AI SDK, of OpenTelemetry and so on. Read when a page has a name that is not ours. */
let declared: ReadonlySet<string> | undefined
function declaredWords(): ReadonlySet<string> {
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  const packages = Object.keys(devDependencies).join(',')
  declared ??= wordsOf(textOf(globSync(`node_modules/{${packages}}/{dist,build,types}/**/*.d.{ts,mts}`)))
  return declared
}

/** The names that a page says are those of others: `<!-- names of others: a, b -->`. */
export const namesOfOthers = (markdown: string): string[] =>
  Array.from(markdown.matchAll(/<!-- names of others: (.+?) -->/g), ([, names = '']) => names.split(', ')).flat()

/** The code of all sentences, without tables that put our names beside those of another package. */
export function codeInProse(page: string, markdown: string): ProseCode[] {
  const isOfAnother = /(?:^|\/)(?:coming-from-rust|migrate\/)/.test(page)
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/<!--[\s\S]*?-->/g, '')
  const lines = prose.split('\n').map((line) => (isOfAnother && line.startsWith('|') ? (line.split('|')[2] ?? '') : line))
  return Array.from(lines.join('\n').matchAll(/(`+)(?!`)(.+?)(?<!`)\1(?!`)/g), ([, , code = '']) => ({ page, code: code.trim() }))
}

/** Names in camel case that nobody has: options, methods and fields. What stands in quotes is a value. */
export function unknownNames({ code }: ProseCode, others: readonly string[]): string[] {
  const bare = code.replace(/'[^']*'|"[^"]*"/g, "''")
  const names = Array.from(bare.matchAll(/(?<![\w$-])[a-z]+[A-Z][\w$]*(?![\w$…])/g), ([name]) => name)
  return names.filter((name) => !ownWords.has(name) && !others.includes(name) && !declaredWords().has(name))
}

const commands = /^(?:npm|npx|node|aws|git|docker|curl|export|phi|psql)\b/

/** Words of a message that no source has. A command is none. */
export function unknownWords({ code }: ProseCode, others: readonly string[]): string[] {
  if (commands.test(code)) return []
  const runs = Array.from(code.matchAll(/(?<![\w$.'"/-])[A-Za-z][a-z']*(?: [a-z']+){3,}(?![\w('-])/g), ([run]) => run)
  return runs.filter((run) => !ownCode.includes(run) && !others.includes(run))
}

interface Signature {
  isAsync: boolean
  /** Its parameters, as they are declared. */
  parameters: string[]
}

const publicNames = wordsOf(
  textOf(globSync(['{src,testing,adapters}/**/index.ts', 'src/*.ts', 'src/{ui,providers}/*.ts']))
    .match(/^export \{[^}]*\}/gm)
    ?.join(' ') ?? '',
)

/** Public functions by name, where one line declares them. */
const functions = new Map(
  Array.from(
    textOf(globSync('{src,testing,adapters}/**/*.ts')).matchAll(/^export (async )?function (\w+)(?:<[^(]*>)?\(([^)]*)\)/gm),
    ([, isAsync, name = '', given = '']) => [name, { isAsync: isAsync !== undefined, parameters: partsOf(given) } satisfies Signature],
  ),
)

/** Calls that do not fit the function: too many arguments, one thing for a list, a promise in the place of its value. */
export function unfitCalls({ code }: ProseCode): string[] {
  return Array.from(code.matchAll(/(?<![\w.$])(\w+)\(/g)).flatMap((match) => {
    const [whole, name = ''] = match
    const signature = functions.get(name)
    if (signature === undefined || !publicNames.has(name)) return []
    const from = match.index + whole.length
    const given = partsOf(code.slice(from, endOf(code, from)))
    const before = code.slice(0, match.index).trimEnd()
    const isPromise = signature.isAsync && before !== '' && /[[(,:]$/.test(before)
    const isOneForMany = /^\w+\??: readonly [^,]*\[\]$/.test(signature.parameters[0] ?? '') && isOther(given[0], signature.parameters[0])
    const isTooMany = given.length > signature.parameters.length && !signature.parameters.some((each) => each.startsWith('...'))
    return isPromise || isOneForMany || isTooMany ? [`${whole}${code.slice(from, endOf(code, from))})`] : []
  })
}

/** Whether `given` is a name, and not the one of the list itself. */
function isOther(given: string | undefined, parameter = ''): boolean {
  return given !== undefined && /^\w+$/.test(given) && !parameter.startsWith(given) && !/s$/.test(given)
}

function endOf(code: string, from: number): number {
  let depth = 1
  for (let at = from; at < code.length; at += 1) {
    if (/[([{]/.test(code[at] ?? '')) depth += 1
    if (/[)\]}]/.test(code[at] ?? '')) depth -= 1
    if (depth === 0) return at
  }
  return code.length
}

/** What commas part at the outermost level. */
function partsOf(list: string): string[] {
  const parts: string[] = []
  let depth = 0
  let last = 0
  for (let at = 0; at <= list.length; at += 1) {
    const char = list[at]
    if (char !== undefined && /[([{<]/.test(char)) depth += 1
    if (char !== undefined && /[)\]}>]/.test(char) && list[at - 1] !== '=') depth -= 1
    if (char !== undefined && (char !== ',' || depth > 0)) continue
    parts.push(list.slice(last, at).trim())
    last = at + 1
  }
  return parts.filter((part) => part !== '')
}
