import { describe, expect, it } from 'vitest'
import { isContextOverflow } from '../../../src/context.ts'
import type { AgentMessage, StopReason } from '../../../src/contract/message/message.ts'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import { classifyError } from '../../../src/providers/kit/errors/classify.ts'
import { answer, user } from '../history.ts'

function failed(errorMessage?: string, stopReason: StopReason = 'error'): AgentMessage {
  const message: AgentMessage = {
    role: 'assistant',
    id: 'a',
    content: [],
    stopReason,
    model: 'm',
    provider: 'p',
    usage: emptyUsage(),
    timestamp: 1,
  }
  if (errorMessage !== undefined) message.errorMessage = errorMessage
  return message
}

describe('isContextOverflow', () => {
  it.each([
    'prompt is too long: 213462 tokens > 200000 maximum',
    "This model's MAXIMUM CONTEXT LENGTH is 128000 tokens",
    'Your input exceeds the context window of this model',
    'The answer ended with model_context_window_exceeded',
  ])('recognizes a provider error: %s', (text) => {
    expect(isContextOverflow(failed(text))).toBe(true)
  })

  it("recognizes the SDK's message for a status without a body", () => {
    const error = classifyError({ service: 'Any', status: 413, body: '' })
    expect(error.code).toBe('contextOverflow')
    expect(isContextOverflow(failed(error.message))).toBe(true)
  })

  it('returns false for other errors and messages', () => {
    expect(isContextOverflow(failed('overloaded'))).toBe(false)
    expect(isContextOverflow(failed())).toBe(false)
    expect(isContextOverflow(failed('prompt is too long', 'aborted'))).toBe(false)
    expect(isContextOverflow(answer('prompt is too long'))).toBe(false)
    expect(isContextOverflow(user('prompt is too long'))).toBe(false)
    expect(isContextOverflow({ role: 'extension', id: 'e', kind: 'note', data: 'prompt is too long' })).toBe(false)
  })
})
