import { isMissingPart } from '../../late/missing-part.ts'
import { errorText } from '../../parts/error-text.ts'
import { storageWords } from './failure-words.ts'

/** Returns an error's text. */
export function wordsOf(error: unknown): string {
  if (Object(error).code === 'busy') return 'a run is active. Wait for it to end, or stop it. Your message is kept.'
  const known = isMissingPart(error) ? 'a part of the page could not be loaded. Your message is kept.' : storageWords(error)
  return known ?? errorText(error)
}

/** The reason why a file cannot be imported as a conversation. */
export function importWords(error: unknown): string {
  const { code, message } = Object(error)
  if (code === 'newerSchema')
    return 'A newer version of this page exported the file. Reload the page to update it, then import the file again.'
  if (code !== 'invalidSession') return wordsOf(error)
  return `The file is not a complete conversation from this page. Use a file from Export (phi, HTML or the Rust ledger). ${message}`
}
