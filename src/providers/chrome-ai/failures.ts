import { errorText, ProviderError, type ProviderErrorCode } from '../../contract/errors.ts'
import { ownOf } from '../../contract/json.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'

/** What the exceptions of the Prompt API mean, by their names. */
const codes: { readonly [name: string]: ProviderErrorCode } = {
  AbortError: 'cancelled',
  QuotaExceededError: 'contextOverflow',
  NotSupportedError: 'unsupported',
  EncodingError: 'unsupportedMedia',
  SyntaxError: 'schemaMismatch',
  NetworkError: 'network',
}

const hints: { readonly [name: string]: string } = {
  NotAllowedError: 'A page may begin the download of the model while its user acts on it: make the first call in the handler of a click.',
  NotSupportedError:
    'The browser does not take this language, medium or schema. availability() of phi-core/providers/chrome-ai says so beforehand.',
}

/** An error of the browser's model, or an abort, as a provider tells it. */
export function browserFailure(error: unknown, signal: AbortSignal, partial?: AssistantMessage): ProviderError {
  const options = partial === undefined ? {} : { partial }
  if (signal.aborted) return new ProviderError('cancelled', 'The model call was aborted.', options)
  if (ProviderError.isInstance(error)) return error
  const name = String(Object(error).name)
  const code = ownOf(codes, name) ?? 'other'
  const hint = ownOf(hints, name)
  const message = `The browser's model failed: ${errorText(error)}`
  return new ProviderError(code, message, { ...options, cause: error, ...(hint !== undefined && { hint }) })
}
