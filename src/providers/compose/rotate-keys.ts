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

/** How keys take turns. */
export interface RotateKeysOptions {
  /** Milliseconds for which a key that was refused is used last. A longer wait that the service asks for counts. Default 60,000. */
  coolDownMs?: number
}

const rotateOptions = optionsOf<RotateKeysOptions>({ coolDownMs: aNumberFromZero })
const someKeys = listOf(aKeyText)

/**
 * `model` with several keys: a key that is rejected, or over its limit, gives way to the next before anything was shown.
 *
 * **Contract**
 * - Keys are used in their order; one that was refused rests. They are kept in a closure, and stand in no error, event or log.
 * - Where all are refused, the call fails with the last error. What is known of keys belongs to this object and this process.
 * - Throws `ConfigError` `invalidOption` without a key, and for one that is empty or has white space around it.
 *
 * Source: docs/concepts/models.md
 */
export function rotateKeys(model: Model, keys: readonly string[], options: RotateKeysOptions = {}): Model {
  checkOptions(model, aDescribedModel, 'model')
  checkOptions(keys, someKeys, 'keys')
  checkOptions(options, rotateOptions)
  if (keys.length === 0 || keys.some((key) => key.trim() === '')) {
    throw new ConfigError(
      'invalidOption',
      'rotateKeys() needs keys, none of them empty. An environment variable that was not set is an empty one.',
    )
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
