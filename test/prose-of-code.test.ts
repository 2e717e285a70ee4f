import { beforeAll, describe, expect, it } from 'vitest'
import { publicComments } from '../scripts/site/reference.ts'
import { assertFreshBuild } from './harness/fresh-build.ts'
import { blankOut, readSources } from './harness/source.ts'
import { findingsIn, findingsInComment, isPrivateName, messagesIn, shown } from './prose/rules.ts'

/** Findings of comments of public names, and of messages. These numbers go down. */
const ofComments = 0
const ofMessages = 0

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
    const found = [...readSources('src', 'testing', 'adapters')].flatMap(([path, code]) =>
      messagesIn(code)
        .flatMap((message) => findingsIn(message))
        .map((finding) => shown(path, finding)),
    )
    holds(found, ofMessages, 'messages')
  })

  it('uses terms of the field in identifiers', () => {
    const found = [...readSources('src', 'testing', 'adapters')].flatMap(([path, code]) =>
      Array.from(blankOut(code).matchAll(/[A-Za-z_$][\w$]*/g), ([name]) => name)
        .filter(isPrivateName)
        .map((name) => `${path}: ${name}`),
    )
    expect(found).toEqual([])
  })
})

describe('this test can fail', () => {
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
