import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Finding, findingsIn } from './prose/rules.ts'

const pages = ['README.md', 'examples/README.md', ...globSync('docs/**/*.md')].map((path) => path.replaceAll('\\', '/')).toSorted()
const shown = (page: string, { line, rule, text }: Finding): string => `${page}:${line} ${rule}: ${text}`

/** Pages that were read through: nothing is found in them any more. A page comes into this list, and does not leave it. */
const clean: string[] = JSON.parse(readFileSync('test/prose/clean.json', 'utf8'))
/** What all other pages have together. The number goes down. */
const ofOthers = 210

describe('the English of the documentation', () => {
  const findings = (page: string) => findingsIn(readFileSync(page, 'utf8')).map((finding) => shown(page, finding))

  it.each(clean)('%s', (page) => expect(findings(page)).toEqual([]))

  it(`of all other pages has at most ${ofOthers} findings`, () => {
    const found = pages.filter((page) => !clean.includes(page)).flatMap(findings)
    console.log(`${clean.length} of ${pages.length} pages are clean; ${found.length} findings in the others`)
    if (found.length > ofOthers) expect(found).toEqual([])
  })

  it('can fail', () => {
    const rulesOf = (text: string) => findingsIn(text).map(({ rule }) => rule)
    expect(rulesOf('What a variable completes counts as leading anywhere.')).toEqual(['what-clause as the subject'])
    expect(rulesOf('- Of one that was stopped the text is sent.')).toEqual(['inverted clause'])
    expect(rulesOf('Absent is absent. Every start has its end.')).toEqual(['aphorism', 'aphorism'])
    expect(rulesOf('| a | Continued without a word, it begins anew |')).toEqual(['old or odd word'])
    expect(rulesOf(`${'word '.repeat(40)}.`)).toEqual(['40 words'])
    expect(rulesOf('```ts\nWhat a mess counts as code.\n```\n# What stands here counts as a heading.')).toEqual([])
    expect(rulesOf('What is a run? What happens when it crashes?')).toEqual([])
  })
})
