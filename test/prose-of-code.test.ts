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

describe('the prose test of the code', () => {
  it('checks comments, but allows a phrase as first sentence', () => {
    expect(findingsInComment('What a run came to.\nWhat others wrote\nis read.').map(({ text }) => text)).toEqual([
      'What others wrote is read.',
    ])
  })

  it('checks only whole words of identifiers', () => {
    expect(['said', 'saidBy', 'isTold', 'takeUpAll', 'aside', 'thousand', 'begone', 'desktop'].filter(isPrivateName)).toEqual([
      'said',
      'saidBy',
      'isTold',
      'takeUpAll',
    ])
  })

  it('checks messages and ignores other text', () => {
    expect(
      messagesIn("// 'Not a message at all.'\nthrow new Error('The key is missing.')\nconst a = `Of ${b} none is left.`\nf('agentEnd')"),
    ).toEqual(['The key is missing.', 'Of code none is left.'])
  })
})
