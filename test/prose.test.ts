import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findingsIn, shown } from './prose/rules.ts'

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md', ...globSync('docs/**/*.md')]
  .map((path) => path.replaceAll('\\', '/'))
  .toSorted()

describe('the English of the documentation', () => {
  it.each(pages)('has no findings in %s', (page) =>
    expect(findingsIn(readFileSync(page, 'utf8')).map((finding) => shown(page, finding))).toEqual([]),
  )
})

describe('the prose test itself', () => {
  it('reports a violation of each rule', () => {
    const rulesOf = (text: string) => findingsIn(text).map(({ rule }) => rule)
    expect(rulesOf('What a variable completes counts as leading anywhere.')).toEqual(['what-clause as the subject'])
    expect(rulesOf('- Of one that was stopped the text is sent.')).toEqual(['inverted clause'])
    expect(rulesOf('Absent is absent. Every start has its end.')).toEqual(['aphorism', 'aphorism'])
    expect(rulesOf('| a | Continued without a word, it begins anew |')).toEqual([expect.stringMatching(/^"anew", write: /)])
    expect(rulesOf(`${'word '.repeat(40)}.`)).toEqual(['40 words'])
    expect(rulesOf('```ts\nWhat a mess counts as code.\n```\n# What stands here counts as a heading.')).toEqual([])
    expect(rulesOf('What is a run? What happens when it crashes?')).toEqual([])
  })
})
