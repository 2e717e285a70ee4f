import { expect, it } from 'vitest'
import { VirtualTerminal } from './virtual-terminal.ts'

/** What `phi` writes to call a person who has pressed no key for some time: a bell, and a notification. */
const call = '\x07\x1b]9;phi: it waits for you\x07'

it('parses a notification with its bell at any chunk boundary', () => {
  const whole = `before ${call}after`
  for (let cut = 0; cut <= whole.length; cut++) {
    const terminal = new VirtualTerminal(80)
    for (const chunk of [whole.slice(0, cut), whole.slice(cut)]) terminal.write(chunk)
    expect(terminal.text, `cut at ${cut}`).toBe('before after')
  }
})

it.each([
  ['a bell without a notification', 'text \x07 and more of it'],
  ['a notification without a bell', 'text \x1b]9;phi: it waits\x07 and more of it'],
])('rejects %s, which a model or tool may have written', (_, text) => {
  expect(() => new VirtualTerminal(80).write(text)).toThrow('The command wrote')
})
