import { globSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { publicComments } from '../scripts/site/reference.ts'
import { assertFreshBuild } from './harness/fresh-build.ts'
import { readSources } from './harness/source.ts'
import { type Finding, findingsIn, findingsInComment, messagesIn } from './prose/rules.ts'

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md', ...globSync('docs/**/*.md')]
  .map((path) => path.replaceAll('\\', '/'))
  .toSorted()
const shown = (place: string, { line, rule, text }: Finding): string => `${place}:${line} ${rule}: ${text}`

describe('the English of the documentation', () => {
  it.each(pages)('%s', (page) => expect(findingsIn(readFileSync(page, 'utf8')).map((finding) => shown(page, finding))).toEqual([]))
})

/** What comments of public names, and messages, have all together. These numbers go down. */
const ofComments = 235
const ofMessages = 35

describe('the English of the code', () => {
  beforeAll(assertFreshBuild)

  const holds = (found: string[], most: number, kind: string): void => {
    console.log(`${found.length} findings in ${kind}, of ${most}`)
    if (found.length > most) expect(found).toEqual([])
  }

  it(`in comments of public names has at most ${ofComments} findings`, () => {
    const found = publicComments().flatMap(({ name, texts }) => texts.flatMap(findingsInComment).map((finding) => shown(name, finding)))
    holds(found, ofComments, 'comments')
  })

  it(`in messages has at most ${ofMessages} findings`, () => {
    const found = [...readSources('src', 'adapters')].flatMap(([path, code]) =>
      messagesIn(code)
        .flatMap((message) => findingsIn(message))
        .map((finding) => shown(path, finding)),
    )
    holds(found, ofMessages, 'messages')
  })
})

describe('this test can fail', () => {
  it('by each of its rules', () => {
    const rulesOf = (text: string) => findingsIn(text).map(({ rule }) => rule)
    expect(rulesOf('What a variable completes counts as leading anywhere.')).toEqual(['what-clause as the subject'])
    expect(rulesOf('- Of one that was stopped the text is sent.')).toEqual(['inverted clause'])
    expect(rulesOf('Absent is absent. Every start has its end.')).toEqual(['aphorism', 'aphorism'])
    expect(rulesOf('| a | Continued without a word, it begins anew |')).toEqual(['old or odd word'])
    expect(rulesOf(`${'word '.repeat(40)}.`)).toEqual(['40 words'])
    expect(rulesOf('```ts\nWhat a mess counts as code.\n```\n# What stands here counts as a heading.')).toEqual([])
    expect(rulesOf('What is a run? What happens when it crashes?')).toEqual([])
  })

  it('in comments, whose first sentence may be a phrase', () => {
    expect(findingsInComment('What a run came to.\nWhat others wrote\nis read.').map(({ text }) => text)).toEqual([
      'What others wrote is read.',
    ])
  })

  it('in messages, and in no other text', () => {
    expect(
      messagesIn("// 'Not a message at all.'\nthrow new Error('The key is missing.')\nconst a = `Of ${b} none is left.`\nf('agentEnd')"),
    ).toEqual(['The key is missing.', 'Of code none is left.'])
  })
})
