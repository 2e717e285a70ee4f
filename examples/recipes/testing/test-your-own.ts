import { Agent, type Model } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'
import { type LogDriver, logSessionStore } from 'phi-core/session'
import { type FaultFetch, faultFetch, sessionStoreSuite, type TestRunner } from 'phi-core/testing'

// #region suite
/** Tests all guarantees of a store that uses your driver, with Vitest, Jest or any runner with the same three functions. */
export function testMyStore(runner: TestRunner, create: () => LogDriver): void {
  sessionStoreSuite(runner, { name: 'my store', create: () => logSessionStore(create()) })
}
// #endregion suite

// #region fault
/** Simulates a provider that is overloaded once and then breaks the connection. */
export async function promptUnreliable(prompt: string): Promise<{ status: string; calls: number }> {
  const fetch: FaultFetch = faultFetch(
    { status: 529, body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}' },
    { headers: { 'content-type': 'text/event-stream' }, body: 'event: message_start\ndata: {"type":"mess', cut: { at: 30, how: 'reset' } },
  )
  const model: Model = anthropic('claude-sonnet-4-6', { apiKey: 'test', fetch })
  const retry = { maxRetries: 1, initialDelayMs: 1, backoffMultiplier: 1, maxDelayMs: 1 }
  const { status } = await new Agent({ model, retry }).prompt(prompt).result
  return { status, calls: fetch.calls.length }
}
// #endregion fault
