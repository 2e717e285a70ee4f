import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { SandboxUnavailable } from '../../adapters/node/index.ts'
import { AgentBusyError, ConfigError, CursorExpiredError, PhiError, ProviderError, ToolError, userMessage } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { SessionError } from '../../src/session.ts'
import { WorkspaceError } from '../../src/tools.ts'

const errors = [
  new AgentBusyError(),
  new ConfigError('emptyPrompt', 'e'),
  new CursorExpiredError(3, 7),
  new ProviderError('network', 'e'),
  new SessionError('notFound', 'e'),
  new ToolError('timeout', 'e'),
  new WorkspaceError('outside', 'e'),
  new SandboxUnavailable('e'),
]
const classes = [
  AgentBusyError,
  ConfigError,
  CursorExpiredError,
  ProviderError,
  SessionError,
  ToolError,
  WorkspaceError,
  SandboxUnavailable,
]

describe('PhiError and its subclasses', () => {
  it('recognizes only its own class with isInstance', () => {
    for (const [index, error] of errors.entries()) {
      expect(classes.map((each) => each.isInstance(error))).toEqual(classes.map((_, at) => at === index))
      expect(PhiError.isInstance(error)).toBe(true)
      expect(error).toBeInstanceOf(PhiError)
      expect(error.name).not.toBe('PhiError')
    }
    for (const other of [new Error('e'), { name: 'ConfigError', code: 'emptyPrompt' }, null, 'ConfigError']) {
      expect(classes.some((each) => each.isInstance(other)) || PhiError.isInstance(other)).toBe(false)
    }
  })

  it('recognizes errors from another copy of the package', () => {
    // What another copy of the package would throw: same brand, another class.
    const foreign = Object.assign(new Error('e'), { name: 'WorkspaceError', code: 'conflict' })
    Object.defineProperty(foreign, Symbol.for('phi-core.error'), { value: true })
    expect([PhiError.isInstance(foreign), WorkspaceError.isInstance(foreign), ToolError.isInstance(foreign)]).toEqual([true, true, false])
  })

  it('marks network and rateLimited errors as retryable by default', () => {
    const retryable = (
      ['api', 'network', 'auth', 'rateLimited', 'contextOverflow', 'cancelled', 'schemaMismatch', 'unsupportedMedia', 'other'] as const
    ).filter((code) => new ProviderError(code, 'e').isRetryable)
    expect(retryable).toEqual(['network', 'rateLimited'])
    expect(new ProviderError('api', 'e', { isRetryable: true }).isRetryable).toBe(true)
  })

  it('hides the partial message when an error is printed', async () => {
    const model = scripted([{ text: 'private words', fail: { code: 'network', message: 'cut', afterText: true } }])
    const request = {
      model: model.config,
      systemPrompt: '',
      messages: [userMessage('go')],
      tools: [],
      thinking: 'off' as const,
      cache: { type: 'auto' as const },
    }
    const error: unknown = await model.provider.stream(request, () => undefined, new AbortController().signal).catch((thrown) => thrown)
    if (!ProviderError.isInstance(error)) throw new Error('expected a ProviderError')
    expect(JSON.stringify(error.partial)).toContain('private words')
    expect(inspect(error) + JSON.stringify(error) + String(error)).not.toContain('private words')
  })
})
