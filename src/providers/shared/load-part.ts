import { errorText, ProviderError } from '../../types/errors.ts'

/**
 * Loads a part of a codec that programs need only once a call is made, so that they start without it.
 * Rejects with `ProviderError` `network` when the part cannot be had: a page that was deployed anew, or went offline.
 */
export async function loadPart<Part>(part: Promise<Part>): Promise<Part> {
  try {
    return await part
  } catch (error) {
    throw new ProviderError('network', `A part of this program could not be loaded: ${errorText(error)}. Reload it and try again.`)
  }
}
