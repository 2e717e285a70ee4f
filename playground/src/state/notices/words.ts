import { isMissingPart } from '../../late/missing-part.ts'
import { errorText } from '../../parts/error-text.ts'
import { storageWords } from './failure-words.ts'

/** Returns the text of an error. */
export function wordsOf(error: unknown): string {
  if (Object(error).code === 'busy') return 'an answer is being written. Wait for its end, or stop it. What you wrote is kept.'
  const known = isMissingPart(error) ? 'a part of the page could not be loaded. What you wrote is kept.' : storageWords(error)
  return known ?? errorText(error)
}

/** Why a file is no conversation that can be taken in. */
export function importWords(error: unknown): string {
  const { code, message } = Object(error)
  if (code === 'newerSchema')
    return 'A newer version of this page exported the file. Reload the page to update it, then import the file again.'
  if (code !== 'invalidSession') return wordsOf(error)
  return `It is no conversation that this page exported, or not all of one. Take a file that Export gave (phi, HTML or the Rust ledger). ${message}`
}
