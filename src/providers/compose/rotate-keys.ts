import { aDescribedModel } from '../../base/argument-checks.ts'
import { KnownSecrets } from '../../base/text/redact.ts'
import { ConfigError, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aNumberFromZero, listOf, options as optionsOf } from '../../contract/shape/shape.ts'
import { type Model, staticCredential } from '../../types/model/model.ts'
import { aKeyText } from '../kit/provider-options.ts'
import { CoolDown, callInner, type InnerCall, secretsOf } from './inner-call.ts'
import { isNeverSent } from './limited.ts'

/** Options for `rotateKeys`: how long a failed key is tried last. */
export interface RotateKeysOptions {
  /** Milliseconds during which a rejected key is tried last. A longer `retry-after` takes precedence. Default: 60,000. */
  coolDownMs?: number
}

const rotateOptions = optionsOf<RotateKeysOptions>({ coolDownMs: aNumberFromZero })
const someKeys = listOf(aKeyText)

/**
 * Wraps `model` with several keys. If a key is rejected or rate-limited before any output, the next key is used.
 *
 * **Contract**
 * - Uses keys in order, with rejected keys last. Keys never appear in errors, events or logs.
 * - If all keys are rejected, the call fails with the last error. Only this object in this process tracks the state.
 * - Throws `ConfigError` `invalidOption` without a key, and for a key that is empty or has surrounding white space.
 *
 * Source: docs/concepts/models.md
 */
export function rotateKeys(model: Model, keys: readonly string[], options: RotateKeysOptions = {}): Model {
  checkOptions(model, aDescribedModel, 'model')
  checkOptions(keys, someKeys, 'keys')
  checkOptions(options, rotateOptions)
  if (keys.length === 0 || keys.some((key) => key.trim() === '')) {
    throw new ConfigError('invalidOption', 'rotateKeys() needs keys that are not empty. An unset environment variable gives an empty key.')
  }
  const { credentials: _own, unusable: _without, ...rest } = model
  const owners = keys.map((key): Model => ({ ...rest, credentials: staticCredential(key) }))
  const coolDown = new CoolDown<Model>(options.coolDownMs ?? 60_000)
  const used = new KnownSecrets()
  return {
    ...rest,
    provider: {
      api: model.provider.api,
      checkMedia: async (media, config) => model.provider.checkMedia?.(media, config),
      encode: (request) => model.provider.encode(request),
      stream: (request, emit, signal) => withSomeKey(coolDown, owners, { request, emit, signal, keys: used }),
    },
    secrets: () => secretsOf(owners, used),
  }
}

async function withSomeKey(coolDown: CoolDown<Model>, owners: readonly Model[], call: InnerCall): Promise<AssistantMessage> {
  let last: ProviderError | undefined
  for (const owner of coolDown.order(owners)) {
    const answer = await callInner(owner, call)
    if (!('error' in answer)) {
      coolDown.worked(owner)
      return answer
    }
    const { error, hasOutput } = answer
    const isOfKey = !isNeverSent(error) && (error.code === 'auth' || error.code === 'rateLimited')
    if (isOfKey) coolDown.failed(owner, error.retryAfterMs)
    if (!isOfKey || hasOutput || call.signal.aborted) throw error
    last = error
  }
  throw last ?? new ProviderError('auth', 'rotateKeys() has no key.')
}
