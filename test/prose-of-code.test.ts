import { beforeAll, describe, expect, it } from 'vitest'
import { publicComments } from '../scripts/site/reference.ts'
import { assertFreshBuild } from './harness/fresh-build.ts'
import { blankOut, readSources } from './harness/source.ts'
import { findingsIn, findingsInComment, isPrivateName, messagesIn, shown } from './prose/rules.ts'

describe('the English of the code', () => {
  beforeAll(assertFreshBuild)

  it('has no findings in comments of public names', () => {
    const found = publicComments().flatMap(({ name, texts }) => texts.flatMap(findingsInComment).map((finding) => shown(name, finding)))
    expect(found).toEqual([])
  })

  it('has no findings in messages', () => {
    const found = [...readSources('src', 'testing', 'adapters')].flatMap(([path, code]) =>
      messagesIn(code)
        .flatMap((message) => findingsIn(message))
        .map((finding) => shown(path, finding)),
    )
    expect(found).toEqual([])
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

  it('in identifiers, by whole words alone', () => {
    expect(['said', 'saidBy', 'isTold', 'takeUpAll', 'aside', 'thousand', 'begone', 'desktop'].filter(isPrivateName)).toEqual([
      'said',
      'saidBy',
      'isTold',
      'takeUpAll',
    ])
  })

  it('in messages, and in no other text', () => {
    expect(
      messagesIn("// 'Not a message at all.'\nthrow new Error('The key is missing.')\nconst a = `Of ${b} none is left.`\nf('agentEnd')"),
    ).toEqual(['The key is missing.', 'Of code none is left.'])
  })
})
