import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codeInProse, namesOfOthers, type ProseCode, unfitCalls, unknownNames, unknownWords } from './prose-code.ts'

const pages = ['README.md', 'SECURITY.md', ...globSync('docs/**/*.md')].map((path) => path.replaceAll('\\', '/'))

describe.each(pages)('%s', (page) => {
  const markdown = readFileSync(page, 'utf8')
  const others = namesOfOthers(markdown)
  const found = codeInProse(page, markdown)
  const faults = (rule: (code: ProseCode) => string[]) => found.flatMap((each) => rule(each).map((fault) => `${fault}, in: ${each.code}`))

  it('names only options, methods and fields that exist', () => expect(faults((each) => unknownNames(each, others))).toEqual([]))
  it('quotes only existing messages', () => expect(faults((each) => unknownWords(each, others))).toEqual([]))
  it('shows only calls that match the signature', () => expect(faults(unfitCalls)).toEqual([]))
  it('lists no foreign name without using it', () => {
    expect(others.filter((name) => !found.some((each) => [...unknownNames(each, []), ...unknownWords(each, [])].includes(name)))).toEqual(
      [],
    )
  })
})

describe('the check of code in prose', () => {
  const inProse = (code: string) => codeInProse('page.md', `Set \`${code}\`.`)[0] as ProseCode // there is one

  it.each([
    ['unknownOptionName', unknownNames],
    ['limits: { maxTurnsEver: 5 }', unknownNames],
    ['The stopped run is in a drawer', unknownWords],
    ['fallback(first, second)', unfitCalls],
    ['fallback([first], {}, more)', unfitCalls],
    ["agent.prompt([text, fileContent(bytes, { name: 'a' })])", unfitCalls],
  ] as const)('reports %s', (code, rule) => expect(rule(inProse(code), [])).toHaveLength(1))

  it.each(['fallback([first, second])', 'fallback(models, { on })', 'await fileContent(bytes)', 'fileContent(blob, { name })'])(
    'accepts %s',
    (code) => expect(unfitCalls(inProse(code))).toEqual([]),
  )
})
