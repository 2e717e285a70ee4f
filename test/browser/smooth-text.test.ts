import { expect, it, onTestFinished } from 'vitest'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createChat, smoothText } from '../../src/store.ts'

/** Counts animation frames until the test ends. */
function countFrames(): { frames: number } {
  const count = { frames: 0 }
  let next = requestAnimationFrame(function again() {
    count.frames += 1
    next = requestAnimationFrame(again)
  })
  onTestFinished(() => cancelAnimationFrame(next))
  return count
}

it('shows bursts over many frames, once per frame, and all text with the end', async () => {
  const burst = 'one two three four five six seven eight nine ten '.repeat(10)
  const text = Array.from({ length: 6 }, () => burst)
  const agent = new Agent({ model: scripted([{ text, delayMs: 300 }]) })
  const chat = createChat(agent, { smooth: smoothText('word') })
  const count = countFrames()
  /** Characters that became visible in each notification of text. */
  const steps: number[] = []
  let shown = 0
  let finished = 0
  onTestFinished(
    chat.subscribe(() => {
      const message = chat.getSnapshot().messages.at(-1)
      const part = message?.parts[0]
      if (message?.role !== 'assistant' || part?.type !== 'text' || part.text.length === shown) return
      if (message.status === 'done') finished = part.text.length - shown
      else steps.push(part.text.length - shown)
      shown = part.text.length
    }),
  )
  await chat.actions.send('Count.')
  const begun = { frames: count.frames, at: performance.now() }
  await agent.currentRun?.result
  const frames = count.frames - begun.frames
  // A busy browser draws fewer frames; then a timer shows the text.
  const late = Math.ceil((performance.now() - begun.at) / 100)
  console.log(
    `${steps.length} notifications in ${frames} frames, at most ${Math.max(...steps)} characters at once, ${finished} with the end`,
  )
  expect(shown).toBe(text.join('').length)
  expect(steps.length).toBeLessThanOrEqual(frames + late)
  // Without smooth there would be one per burst.
  expect(steps.length).toBeGreaterThan(text.length)
})
