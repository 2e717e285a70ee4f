import { describe, expect, it } from 'vitest'
import { ContextTracker, totalTokens } from '../../../src/context.ts'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import { answer, user } from '../history.ts'

const messages = [user('a question'), answer('an answer'), user('another question')]
const usage = { ...emptyUsage(), input: 100, cacheRead: 30, cacheWrite: 20, output: 50, totalTokens: 200 }

describe('ContextTracker', () => {
  it('estimates everything without a reported count', () => {
    expect(new ContextTracker().estimate(messages)).toBe(totalTokens(messages))
  })

  it('adds an estimate of newer messages to the reported count', () => {
    const tracker = new ContextTracker()
    tracker.recordUsage(usage, 1)
    expect(tracker.estimate(messages)).toBe(200 + totalTokens(messages.slice(2)))
    expect(tracker.estimate(messages.slice(0, 2))).toBe(200)
  })

  it('ignores a reported count of zero', () => {
    const tracker = new ContextTracker()
    tracker.recordUsage(usage, 0)
    tracker.recordUsage(emptyUsage(), 1)
    expect(tracker.estimate(messages)).toBe(200 + totalTokens(messages.slice(1)))
  })

  it('starts over after a reset', () => {
    const tracker = new ContextTracker()
    tracker.recordUsage(usage, 1)
    tracker.reset()
    expect(tracker.estimate(messages)).toBe(totalTokens(messages))
  })

  it('estimates with the configured counter', () => {
    expect(new ContextTracker({ text: () => 1, message: () => 7 }).estimate(messages)).toBe(21)
  })
})
