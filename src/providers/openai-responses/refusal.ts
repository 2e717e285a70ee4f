import { withoutSecret } from '../shared/classify.ts'
import { readErrorFacts } from '../shared/error-facts.ts'

/** A refusal that this package can do something about. */
export interface Refusal {
  /** The service's filter refused the prompt; its reasoning of earlier answers can no longer be read. */
  kind: 'contentFilter' | 'encryptedContent'
  /** What the service said, without the key. */
  text: string
}

/** What `body`, of an answer or of an error event, refuses; `undefined` for every other error. */
export function refusalOf(body: unknown, credential: string | undefined): Refusal | undefined {
  const { names, text } = readErrorFacts(body, undefined)
  const said = withoutSecret(text, credential)
  if (/\bcontent_filter\b/.test(names)) return { kind: 'contentFilter', text: said }
  return /\binvalid_encrypted_content\b/.test(names) ? { kind: 'encryptedContent', text: said } : undefined
}
