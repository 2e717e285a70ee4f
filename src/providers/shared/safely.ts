import { errorText, ProviderError } from '../../types/errors.ts'
import type { StreamRequest } from '../../types/provider.ts'

/**
 * What `encode` makes of `request`. What goes wrong in it, such as arguments that are no JSON, is `ProviderError` `other`: an error of the
 * call like any other.
 */
export function safely<Result>(encode: () => Result, { model }: StreamRequest): Result {
  try {
    return encode()
  } catch (error) {
    if (error instanceof ProviderError) throw error
    throw new ProviderError('other', `The request for ${model.id} cannot be encoded: ${errorText(error)}`)
  }
}
