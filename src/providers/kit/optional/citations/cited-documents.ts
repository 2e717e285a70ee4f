import type { Citation, FileContent } from '../../../../contract/message/content.ts'
import type { Message } from '../../../../contract/message/message.ts'
import type { ApiProtocol } from '../../../../contract/model/model-config.ts'
import { perObject } from '../../encode/json-pieces.ts'
import { leftOutAt, type MediaRules, whyNotSent } from '../media/media-rules.ts'

/** Rules for how a provider counts documents. */
export interface DocumentRules {
  api: ApiProtocol
  media: MediaRules
  /** Returns whether a sent file counts. Default: all files count. */
  isDocument?(file: FileContent): boolean
  /** Whether the provider counts files of failed results after the turn's other results. */
  failedLast?: boolean
}

/** A document that was sent. */
interface SentDocument {
  name: string | undefined
  messageId: string
  fileIndex: number
}

/** The documents to which a response's citations can refer. `messages` contains the request's messages, with media as sent. */
export interface CitedDocuments extends DocumentRules {
  messages: readonly Message[]
}

/** A request's documents, in the order in which the provider numbers them. */
const sentDocuments = perObject(documentsIn)

/**
 * Adds the message and block to `citation`, if both are known and the provider uses the document's name. `neutral` parses the number (from
 * 1) in a generated name. The citation then gets the original name.
 */
export function namedCitation(citation: Citation, cited: CitedDocuments, neutral?: RegExp): Citation {
  const { document: within, title, url } = citation
  if (within === undefined || url !== undefined) return citation
  const documents = sentDocuments(cited)
  const number = neutral?.exec(title ?? '')?.[1]
  const sent = documents[number === undefined ? within.index : Number(number) - 1]
  if (sent === undefined || (number === undefined && title !== undefined && title !== sent.name)) return citation
  const { messageId, fileIndex, name } = sent
  const called = number === undefined || name === undefined ? {} : { title: name }
  return { ...citation, ...called, document: { ...within, messageId, fileIndex } }
}

function documentsIn({ messages, ...rules }: CitedDocuments): (SentDocument | undefined)[] {
  const found: (SentDocument | undefined)[] = []
  let held: (SentDocument | undefined)[] = []
  for (const message of messages) {
    if (message.role !== 'toolResult') {
      found.push(...held)
      held = []
    }
    if (message.role === 'assistant') continue
    const goesLast = rules.failedLast === true && message.role === 'toolResult' && message.isError
    const into = goesLast ? held : found
    into.push(...documentsOf(message, rules))
  }
  return [...found, ...held]
}

/** Lists a message's documents. Counts files, not blocks, because encoded messages may contain additional texts. */
function documentsOf(message: Message, { api, media, isDocument = () => true }: DocumentRules): (SentDocument | undefined)[] {
  const messageId = 'id' in message && typeof message.id === 'string' ? message.id : undefined
  const files = message.content.filter((block) => block.type === 'file' || leftOutAt(block)?.block.type === 'file')
  return files.flatMap((block, fileIndex) => {
    if (block.type !== 'file' || !isDocument(block) || whyNotSent(block, media, api, message.content) !== undefined) return []
    return [messageId === undefined ? undefined : { name: block.name, messageId, fileIndex }]
  })
}
