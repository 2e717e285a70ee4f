import { globSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Shape } from '../../src/contract/shape/shape.ts'
import { blankOut, literals, readSources } from '../harness/source.ts'

/** Lists and tables that have the same words as another and mean something else: where, one of the words, and why. */
const allowed: readonly (readonly [path: string, word: string, reason: string])[] = [
  ['src/store/state.ts', 'done', 'where a call of ours stands: not every word is one of a service tool, and some are ours alone'],
  ['playground/src/state/log/trace.ts', 'waiting', 'how far a stretch of time is, also of a loop or a turn'],
  ['src/mcp/client-like.ts', 'accept', 'what MCP calls the answers to an elicitation'],
  [
    'adapters/node/script-hooks/script-hooks.ts',
    'beforeLoop',
    'a path where the loop takes a function; the compiler refuses a name that no hook has',
  ],
  [
    'src/providers/openai-responses/decode/responses-decoder.ts',
    'sequence_number',
    'which fields two kinds of events have: they differ on purpose',
  ],
  ['adapters/http/agent-app.ts', 'GET', 'what pages of other origins may ask, whatever our client asks'],
  ['adapters/mcp/server/serve-mcp.ts', 'GET', 'the same, of another protocol'],
  ['adapters/cloudflare/session/kv/kv-session-store.ts', 'list', 'the methods of a binding, which errors name too'],
  ['src/providers/', 'low', 'the efforts that one model knows, or how much one service searches: the services decide, each by itself'],
]

const isAllowed = (path: string, words: readonly string[]): boolean =>
  allowed.some(([place, word]) => path.startsWith(place) && words.includes(word))

/** Numbers that have the name and the value of another and mean something else: where, the name, and why. */
const allowedNumbers: readonly (readonly [path: string, name: string, reason: string])[] = [
  ['src/providers/', 'maxOutputTokens', 'the services say it of each of their models'],
  ['src/providers/compose/route.ts', 'contextWindow', 'stands there until the first model was chosen'],
  ['playground/src/settings/settings.ts', 'maxTotalTokens', 'what a visitor begins with, like the turns and minutes beside it'],
  ['playground/src/settings/settings.ts', 'keepRecentTurns', 'the same'],
  ['playground/src/demo/model.ts', 'outputPerMillion', 'prices of another scripted model'],
  ['playground/src/inspector/trace/waterfall.tsx', 'rowHeight', 'as its own style sheet says'],
  ['src/skills/load-skills.ts', 'breathEvery', 'how long one kind of work takes before others have their turn'],
  ['src/client/remote-options.ts', 'maxDelayMs', 'between attempts to reach our server, whatever a retry of a model waits'],
  ['src/tools/', 'timeoutMs', 'for one walk through files'],
]

/** Patterns that another file has too, where they ask something else: where, the pattern, and why. */
const allowedPatterns: readonly (readonly [path: string, pattern: string, reason: string])[] = [
  ['adapters/mcp/fetch-layers.ts', '/^[\\x20-\\x7e]+$/', 'what a header of a trace may hold, whatever a secret is made of'],
  ['src/providers/openai-responses/encode-answer.ts', '/^[a-zA-Z0-9_-]+$/', 'names that the service gives its items'],
  ['playground/src/markdown/blocks.ts', '/^ {0,3}(`{3,}|~{3,})/', 'how Markdown begins code, read in a page'],
]

/** Lines of code that have one home each: what they do, where they may stand, and how they look. The playground reaches no part that the package does not export. */
const onceOnly: readonly (readonly [what: string, homes: readonly string[], looks: RegExp])[] = [
  [
    'whether a value is an object with names: isObject',
    ['src/contract/json.ts', 'playground/'],
    /typeof ([\w.]+) [!=]== 'object'[^\n]*Array\.isArray\(\1\)/,
  ],
  ['a field whatever its name: setOwnField', ['src/contract/json.ts'], /enumerable: true, configurable: true, writable: true/],
  ['a field of any value: fieldIn', ['src/contract/json.ts'], /typeof (\w+) === 'object' && \1 !== null \? Reflect\.get\(\1,/],
  [
    'JSON, or nothing: parsedJson',
    ['src/base/json/json-value.ts'],
    /return JSON\.parse\(\w+\)\n\s*\} catch \{\n\s*return (?:undefined|text)\n/,
  ],
  ['the escapes of JSON Pointer', ['src/base/json/json-value.ts'], /replaceAll\('~1'|replaceAll\('~', '~0'/],
  [
    'bytes as hexadecimal digits: toHex',
    ['src/contract/message/identity.ts', 'adapters/otel/tracing.ts'],
    /toString\(16\)\.padStart\(2, '0'\)/,
  ],
  [
    'what bytes say in UTF-8: utf8In',
    ['src/base/text/characters.ts', 'adapters/http/access/body.ts'],
    /new TextDecoder\('utf-8', \{ fatal: true/,
  ],
  ['what percent signs stand for: percentDecoded', ['src/base/text/characters.ts', 'playground/'], /return decodeURIComponent\(\w+\)\n/],
  ['the bytes of base64: bytesOfBase64', ['playground/'], /Uint8Array\.from\(atob\(/],
  ['half of a character', ['src/base/text/characters.ts'], /0xfc00|0xd800/],
  [
    'whether a block is a picture or a file: isMedia',
    ['src/contract/message/content.ts', 'playground/'],
    /\b(\w+)\.type (?:=== 'image' \|\| \1\.type === 'file'|!== 'image' && \1\.type !== 'file')/,
  ],
  [
    'what a table has under a name: ownOf',
    ['src/contract/json.ts', 'playground/'],
    /Object\.hasOwn\((\w+), (\w+)\) \? \(?\1\[\2\] (?:: undefined|\?\?)/,
  ],
  ['the headers of a stream', ['src/ui/shared/encoding.ts'], /'x-accel-buffering': 'no',\n\} as const/],
  ['what an error says: errorText', ['adapters/elements/phi-composer.ts', 'playground/'], /(\w+) instanceof Error \? \1\.message/],
  [
    'the beginning of a text: shortened',
    ['src/contract/message/block-words.ts', 'playground/'],
    /(\w+)\.length (?:> (\w+) \? `|<= (\w+) \? \1 : `)\$\{\1\.slice\(0, (?:\2|\3)\)\}…`/,
  ],
]

/** Functions that read as another does, and do something else: where, the name, and why. */
const allowedFunctions: readonly (readonly [path: string, name: string, reason: string])[] = [
  ['adapters/node/config/node-host.ts', 'protection', 'other fields of another thing'],
]

type Lists = ReadonlyMap<string, readonly string[]>

/** Every list of words and every table of fields that `src/contract` exports, or uses within, by where it is found. */
async function contractLists(): Promise<{ words: Lists; fields: Lists }> {
  const [lists, tables] = [new Map<string, readonly string[]>(), new Map<string, readonly string[]>()]
  const seen = new Set<Shape>()
  const visit = (shape: Shape, path: string): void => {
    if (seen.has(shape)) return
    seen.add(shape)
    const { form } = shape
    if (form.of === 'word') lists.set(path, form.words)
    else if (form.of === 'object') {
      tables.set(path, Object.keys(form.fields))
      for (const [name, field] of form.entries) visit(field, `${path}.${name}`)
    } else if (form.of === 'tagged') {
      lists.set(`tags of ${path}`, [...form.variants.keys()])
      for (const [tag, variant] of form.variants) visit(variant, `${path}.${tag}`)
    } else if (form.of === 'list' || form.of === 'record') visit(form.item, `${path}[]`)
    else if (form.of === 'either') for (const each of form.shapes) visit(each, path)
    else if (form.of === 'written') visit(form.whole, path)
  }
  for (const path of globSync('src/contract/**/*.ts').filter((file) => !/[\\/]shape[\\/]/.test(file))) {
    const exported: object = await import(new URL(`../../${path}`, import.meta.url).href)
    for (const [name, value] of Object.entries(exported)) if (isShape(value)) visit(value, name)
  }
  return { words: lists, fields: tables }
}

function isShape(value: unknown): value is Shape {
  return typeof value === 'object' && value !== null && 'form' in value && 'expected' in value
}

/** `'a', 'b', 'c'`, `'a' | 'b' | 'c'`, over one line or many. */
const runOfTexts = /'[\w-]+'(?:\s*[,|]\s*'[\w-]+'){2,}/g

interface Found {
  where: string
  path: string
  words: readonly string[]
}

/** Every list of three words or more, as an array, as arguments or as a union type. */
function wordListsIn(path: string, code: string): Found[] {
  return Array.from(code.matchAll(runOfTexts), ({ 0: run, index }) => {
    const words = [...new Set(Array.from(run.matchAll(/'([\w-]+)'/g), ([, word = '']) => word))]
    return { path, where: `${path}:${lineAt(code, index)}`, words }
  }).filter(({ words }) => words.length > 2)
}

const check =
  /^\s*(?:z\.|a[A-Z]\w*\b(?!\()|(?:required|optional|filled|list|listOf|fixedListOf|oneOf|wholeFrom|between|text|texts|flag|whole|number|word)\()/

/** Every object of four fields or more that are checks, of our dialect or of zod, however deep it stands. */
function tablesIn(path: string, code: string): Found[] {
  const clean = blankOut(code)
  const found: Found[] = []
  const open: { at: number; names: string[] }[] = []
  for (const { 0: token, 1: name, index } of clean.matchAll(/[{}()[\]]|(?<=[{,\n]\s*)'?(\w+)'?: /g)) {
    const inner = open.at(-1)
    if (name !== undefined) {
      if (inner !== undefined && check.test(clean.slice(index + token.length, index + token.length + 60))) inner.names.push(name)
    } else if ('{(['.includes(token)) open.push({ at: index, names: [] })
    else {
      const { at = 0, names = [] } = open.pop() ?? {}
      if (names.length > 3) found.push({ path, where: `${path}:${lineAt(code, at)}`, words: names })
    }
  }
  return found
}

/** `const maxDepth = 200`, `maxDepth: 200`, `options.maxDepth ?? 200`, `defaultMaxDepth = 2 * 100`. */
const namedNumber = /(\w+)(?:: [\w<>]+)?(?: =|:| \?\?|\)) (\d[\d_]*(?: \*{1,2} \d[\d_]*)*)(?![\w.])/g

/** Every number from 8 on, and what it is called there. What HTTP calls its answers is HTTP's. */
function numbersIn(path: string, code: string): Found[] {
  return Array.from(blankOut(code).matchAll(namedNumber), ({ 1: called = '', 2: written = '', index }) => {
    const value = written.split(' * ').reduce((product, factor) => product * power(factor), 1)
    const name = called.replace(/^default(?=[A-Z])/, '').toLowerCase()
    return {
      path,
      where: `${path}:${lineAt(code, index)}`,
      words: name === 'status' || value < 8 ? [] : [name, `${value}`],
    }
  }).filter(({ words }) => words.length > 0)
}

function power(written: string): number {
  const [base = 0, exponent = 1] = written.split(' ** ').map((part) => Number(part.replaceAll('_', '')))
  return base ** exponent
}

/** Every pattern that is long enough to say something of its own. */
function patternsIn(path: string, code: string): Found[] {
  return Array.from(code.matchAll(literals), ({ 0: literal, index }) => ({
    path,
    where: `${path}:${lineAt(code, index)}`,
    words: [literal],
  })).filter(({ words: [literal = ''] }) => /^\/(?![/*])/.test(literal) && literal.lastIndexOf('/') > 13)
}

/** What stands in two files: numbers that are called the same and are the same, or patterns. Suites check what others do. */
function inTwoFiles(found: readonly Found[], but: readonly (readonly [path: string, name: string, reason: string])[]): string[] {
  const looked = found.filter(
    ({ path, words }) =>
      !path.startsWith('testing/') &&
      !but.some(([place, name]) => path.startsWith(place) && words[0]?.toLowerCase() === name.toLowerCase()),
  )
  const places = new Map<string, Found[]>()
  for (const each of looked) places.set(each.words.join(' '), [...(places.get(each.words.join(' ')) ?? []), each])
  return Array.from(places)
    .filter(([, same]) => new Set(same.map(({ path }) => path)).size > 1)
    .map(([name, same]) => `${name}: ${same.map(({ where }) => where).join(', ')}`)
}

/** Every function of a file that does something of its own: its parameters by place, and its body as it stands. */
function functionsIn(path: string, code: string): Found[] {
  return Array.from(code.matchAll(declared), ({ 1: name = '', 2: parameters = '', 3: body = '', index }) => {
    const names = Array.from(parameters.matchAll(/(?:^|[,{]\s*|\.\.\.)(\w+)\b(?=\??\s*[:,}=])/g), ([, each = '']) => each)
    const told = names.reduce((text, each, at) => text.replaceAll(new RegExp(`(?<![.\\w])${each}\\b`, 'g'), `$${at}`), body)
    return { path, where: `${path}:${lineAt(code, index)}`, words: [name, told.replace(/\s+/g, ' ')] }
  }).filter(({ words: [, body = ''] }) => body.length > 60)
}

const declared = /^(?:export )?(?:async )?function (\w+)(?:<[^>\n]*>)?\(([^\n]*?)\)[^\n]*\{\n([\s\S]*?)\n\}$/gm

function lineAt(code: string, index: number): number {
  return code.slice(0, index).split('\n').length
}

/** What says the same as one of `homes`, whatever the order: at least `least` words, and three quarters of what stands there. */
function secondHomes(found: readonly Found[], homes: Lists, least: number): string[] {
  return found.flatMap(({ path, where, words }) => {
    if (path.startsWith('src/contract/') || isAllowed(path, words)) return []
    for (const [name, list] of homes) {
      const same = list.filter((word) => words.includes(word))
      if (same.length >= least && same.length >= list.length * 0.75) return [`${where} ${name}: ${same.join(' ')}`]
    }
    return []
  })
}

/** The same words at two places, or nearly: a list of five that has drifted. What suites write into sessions is data. */
function twice(found: readonly Found[]): string[] {
  const looked = found.filter(({ path, words }) => !isAllowed(path, words) && !path.startsWith('testing/'))
  return looked.flatMap(({ where, words }, index) =>
    looked.slice(index + 1).flatMap((other) => {
      const same = words.filter((word) => other.words.includes(word))
      const most = Math.max(words.length, other.words.length)
      const isSame = same.length === most || (same.length > 4 && same.length >= most * 0.75)
      return isSame ? [`${where}, ${other.where}: ${same.join(' ')}`] : []
    }),
  )
}

const sources = readSources('src', 'testing', 'adapters', 'playground/src')
type Find = (path: string, code: string) => Found[]

const foundBy = new Map<Find, readonly Found[]>()

/** What is found in all sources. Each kind is looked for once. */
function all(find: Find): readonly Found[] {
  const found = foundBy.get(find) ?? Array.from(sources).flatMap(([path, code]) => find(path, code))
  foundBy.set(find, found)
  return found
}

it('declares each list of values only once', async () => {
  const { words } = await contractLists()
  expect(words.size).toBeGreaterThan(15)
  const found = all(wordListsIn)
  expect(secondHomes(found, words, 3)).toEqual([])
  expect(twice(found)).toEqual([])
})

it('declares each table of fields only once', async () => {
  const { fields } = await contractLists()
  expect(fields.size).toBeGreaterThan(40)
  const found = all(tablesIn)
  expect(found.length).toBeGreaterThan(100)
  expect(secondHomes(found, fields, 4)).toEqual([])
  expect(twice(found)).toEqual([])
})

it('declares each number only once', () => {
  const found = all(numbersIn)
  expect(found.length).toBeGreaterThan(300)
  expect(inTwoFiles(found, allowedNumbers)).toEqual([])
})

it('declares each regular expression only once', () => {
  const found = all(patternsIn)
  expect(found.length).toBeGreaterThan(200)
  expect(inTwoFiles(found, allowedPatterns)).toEqual([])
})

it('defines each function only once', () => {
  const found = all(functionsIn).filter(
    ({ path, words: [name = ''] }) => !allowedFunctions.some(([place, each]) => path.startsWith(place) && each === name),
  )
  expect(found.length).toBeGreaterThan(1500)
  // The playground reaches only what the package exports.
  const places = new Map<string, string[]>()
  for (const { path, where, words } of found) {
    const [name = '', body = ''] = words
    const side = `${path.startsWith('playground/')} ${body}`
    places.set(side, [...(places.get(side) ?? []), `${name} ${where}`])
  }
  expect([...places.values()].filter((each) => each.length > 1)).toEqual([])
})

it('implements each listed technique only in its module', () => {
  for (const [what, homes, looks] of onceOnly) {
    const places = Array.from(sources.keys()).filter((path) => looks.test(sources.get(path) ?? ''))
    expect(
      places.filter((path) => !homes.some((home) => path.startsWith(home)) && !path.startsWith('testing/')),
      what,
    ).toEqual([])
    for (const home of homes.filter((each) => each.endsWith('.ts'))) expect(places, what).toContain(home)
  }
})

it('detects reordered, union, nested and zod duplicates', () => {
  const homes = new Map([['stops', ['stop', 'length', 'toolUse', 'error']]])
  const union = wordListsIn('src/a.ts', "type Why =\n  | 'error'\n  | 'toolUse'\n  | 'length'\n  | 'stop'\n")
  expect(secondHomes(union, homes, 3)).toEqual(['src/a.ts:2 stops: stop length toolUse error'])
  expect(twice([...union, ...wordListsIn('src/b.ts', "['stop', 'length', 'toolUse', 'error']")])).toHaveLength(1)
  const usage = new Map([['usage', ['input', 'output', 'cacheRead', 'cacheWrite']]])
  const nested =
    'const x = {\n  a: { b: z.object({ output: z.number(), input: z.number(), cacheWrite: z.number(), cacheRead: z.number() }) },\n}'
  expect(secondHomes(tablesIn('src/a.ts', nested), usage, 4)).toEqual(['src/a.ts:2 usage: input output cacheRead cacheWrite'])
  const numbers = ['const maxBytes = 2 * 1024 * 1024', 'f(options.maxBytes ?? 2_097_152)', 'export const defaultMaxBytes: number = 2 ** 21']
  const [same = '', ...others] = inTwoFiles(
    numbers.flatMap((code, index) => numbersIn(`src/${index}.ts`, code)),
    [],
  )
  expect([same, ...others]).toEqual(['maxbytes 2097152: src/0.ts:1, src/1.ts:1, src/2.ts:1'])
})

it('finds every allowed exception in the source', () => {
  const found = [...all(wordListsIn), ...all(tablesIn)]
  for (const [place, word] of allowed)
    expect(
      found.some(({ path, words }) => path.startsWith(place) && words.includes(word)),
      place,
    ).toBe(true)
  const named = [...all(numbersIn), ...all(patternsIn), ...all(functionsIn)]
  for (const [place, name] of [...allowedNumbers, ...allowedPatterns, ...allowedFunctions])
    expect(
      named.some(({ path, words }) => path.startsWith(place) && words[0]?.toLowerCase() === name.toLowerCase()),
      `${place} ${name}`,
    ).toBe(true)
})
