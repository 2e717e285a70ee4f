import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseMessages } from '../../src/session.ts'

/** What the readers of what is stored refuse. A caller cannot hand it in either. */
const unreadable: [string, object, string][] = [
  ['a hint without a kind', { provenanceHint: {} }, 'messages[0].provenanceHint.kind is undefined; it must be'],
  ['an empty tag', { tags: [{}] }, 'messages[0].tags[0].kind is undefined; it must be'],
  ['state without a model', { content: [{ type: 'text', text: 'x', providerState: {} }] }, 'messages[0].content[0].providerState.api is'],
  ['a prototype key', JSON.parse('{"__proto__":{"role":"user"}}'), 'messages[0].__proto__ is an object'],
]

describe('caller messages in every reader', () => {
  it.each(unreadable)('rejects %s in the constructor and the parser', (_what, extra, said) => {
    const message = Object.defineProperties({ role: 'user', content: 'x' }, Object.getOwnPropertyDescriptors(extra))
    const given: unknown = [message]
    expect(() => new Agent({ model: scripted([]), messages: given as never })).toThrow(said)
    const stored = Object.defineProperties({ id: 'a', role: 'user', content: [], timestamp: 1 }, Object.getOwnPropertyDescriptors(extra))
    expect(() => parseMessages(JSON.stringify([stored]))).toThrow(/^messages\[0\]\./)
  })
})
