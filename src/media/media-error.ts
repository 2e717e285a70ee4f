import { isNamed, PhiError } from '../contract/errors.ts'

/**
 * Why media could not be had, or not be uploaded. `refused`: the address is none that may be asked; `tooLarge`; `wrongType`: it is not what it was said
 * to be; `timeout`; `unavailable`: nobody answered, or said no; `unsupported`: the service keeps no such files.
 */
export type MediaErrorCode = 'refused' | 'tooLarge' | 'wrongType' | 'timeout' | 'unavailable' | 'unsupported'

/** Media that could not be fetched or uploaded. Source: docs/concepts/files.md */
export class MediaError extends PhiError<MediaErrorCode> {
  override readonly name = 'MediaError'

  static override isInstance(value: unknown): value is MediaError {
    return isNamed(value, 'MediaError')
  }
}
