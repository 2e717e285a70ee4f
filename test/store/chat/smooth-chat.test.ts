import { expect, it, onTestFinished, vi } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { type Chat, createChat, smoothText } from '../../../src/store.ts'

const burst = 'one two three four five six seven eight nine ten '.repeat(4)

/** A chat whose agent sends four bursts, one every 300 ms, under fake timers. */
function open(): Chat {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const agent = new Agent({ model: scripted([{ text: [burst, burst, burst, burst], delayMs: 300 }]) })
  return createChat(agent, { smooth: smoothText('word') })
}

function textOf(chat: Chat): string {
  const message = chat.getSnapshot().messages.at(-1)
  return message?.role === 'assistant' ? message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
}

it('shows a run in whole words, and all text at the end', async () => {
  const chat = open()
  const seen: string[] = []
  const stop = chat.subscribe(() => seen.push(textOf(chat)))
  void chat.actions.send('Count.')
  await vi.advanceTimersByTimeAsync(1100)
  expect(chat.getSnapshot().status).toBe('running')
  expect(new Set(seen).size).toBeGreaterThan(20)
  expect(seen.every((each) => each === '' || each.endsWith(' '))).toBe(true)
  await vi.advanceTimersByTimeAsync(400)
  expect([chat.getSnapshot().status, textOf(chat)]).toEqual(['completed', burst.repeat(4)])
  expect(vi.getTimerCount()).toBe(0)
  stop()
})

it('immediately shows received text when components remount during a run', async () => {
  const chat = open()
  const run = chat.agent.send('Count.')
  const stop = chat.subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(350)
  const before = textOf(chat)
  expect(before).not.toBe('')
  expect(before.length).toBeLessThan(burst.length)
  stop()
  await vi.advanceTimersByTimeAsync(10)
  // The timer of the scripted model.
  expect(vi.getTimerCount()).toBe(1)

  const seen: number[] = []
  const leave = chat.subscribe(() => seen.push(textOf(chat).length))
  await vi.advanceTimersByTimeAsync(1)
  expect(textOf(chat)).toBe(burst)
  seen.length = 0
  await vi.advanceTimersByTimeAsync(700)
  expect(seen).toEqual(seen.toSorted((one, other) => one - other))
  expect(new Set(seen).size).toBeGreaterThan(20)
  leave()
  await vi.runAllTimersAsync()
  expect((await run.result).status).toBe('completed')
  expect(vi.getTimerCount()).toBe(0)
})

it('immediately shows a stored conversation', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const messages = [
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'Count.' }] },
    { role: 'assistant' as const, content: [{ type: 'text' as const, text: burst }] },
  ]
  const chat = createChat(new Agent({ model: scripted([]), messages }), { smooth: smoothText('word') })
  const stop = chat.subscribe(() => undefined)
  expect(textOf(chat)).toBe(burst)
  await vi.advanceTimersByTimeAsync(0)
  expect([textOf(chat), vi.getTimerCount()]).toEqual([burst, 0])
  stop()
})
