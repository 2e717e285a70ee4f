import { isNamed, PhiError } from '../contract/errors.ts'

/**
 * Why no tools could be made of a document. `invalidDocument`: it cannot be read, or leads to what is not there; `unsupportedVersion`: it is no
 * OpenAPI 3; `noServer`: nobody says where to call; `unavailable`: it could not be fetched.
 */
export type OpenApiErrorCode = 'invalidDocument' | 'unsupportedVersion' | 'noServer' | 'unavailable'

/** An OpenAPI document that cannot be used. Source: docs/concepts/openapi.md */
export class OpenApiError extends PhiError<OpenApiErrorCode> {
  override readonly name = 'OpenApiError'

  static override isInstance(value: unknown): value is OpenApiError {
    return isNamed(value, 'OpenApiError')
  }
}
