import { errorText, ProviderError } from '../../types/errors.ts'

/**
 * Loads a part of a codec that programs need only once a call is made, so that they start without it.
 *
 * Rejects with `ProviderError`: `network` when the part cannot be had (a page that was deployed anew, or went offline), `cancelled` as soon
 * as `signal` aborts. The caller owns `signal`; no listener stays behind.
 */
export function loadPart<Part>(part: Promise<Part>, signal?: AbortSignal): Promise<Part> {
  return new Promise((resolve, reject) => {
    const cut = () => reject(new ProviderError('cancelled', `The call was cancelled: ${errorText(signal?.reason)}`))
    if (signal?.aborted) cut()
    signal?.addEventListener('abort', cut, { once: true })
    const settled = () => signal?.removeEventListener('abort', cut)
    const failed = (error: unknown) => {
      reject(new ProviderError('network', `A part of this program could not be loaded: ${errorText(error)}. Reload it and try again.`))
    }
    part.then(resolve, failed).finally(settled)
  })
}
