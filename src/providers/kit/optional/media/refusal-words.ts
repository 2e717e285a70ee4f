import type { ProviderError } from '../../../../contract/errors.ts'

/** A rejection message. */
export interface RefusalWords {
  /** The provider's message. */
  text: string
  /** The invalid field, if reported separately. */
  param?: string | undefined
  /** The complete text. */
  raw: string
}

/** Names of fields that may contain media. */
const conversation = /^(?:messages|contents?|input|url)\b/
/** Matches messages about the size of the whole request. */
const tooLarge = /\b(?:payload|request|body)\b(?: entity)?(?: is)?(?: size)? (?:too large|exceeds the (?:maximum|limit))/i
/** Matches a path in the conversation: `messages.3.content.1.image`, `input[2].content[0]`, `messages.[0].content`. */
const placeForm = /\b(?:messages|contents|input)(?:\.?\[\d+\]|\.\d+)(?:\.?\[\w+\]|\.\w+)*/g
/** Other fields of a media block. If one of them is invalid, the media are not the reason. */
const siblingOfMedia = /(?:cache_?control|citations|title|context|detail|(?:file)?name|(?:tool_use|call)_id)$/i
/** Matches a path step that leads into media. */
const intoMedia = /image|source|inline_?data|file|document|media|audio|video|bytes/i

const aboutMedia =
  /\b(?:images?|pictures?|photos?|pdfs?|documents?|audio|videos?|vision|multi-?modal|modalit(?:y|ies)|media|mime|files?|attachments?|pixels?|image_url|input_image|input_file|file_data|inline_?data)\b/i
const fault =
  /could ?n[o']t|cannot|can't|unable|fail|invalid|not (?:a |an )?(?:\w+ )?(?:valid|supported|allowed|enabled|accepted|multi-?modal)|n[o']t (?:support|accept|process|read|match|decode|represent|take)|unsupported|unknown variant|exceed|too (?:large|big|many|long|small)|at most|maximum|corrupt|truncat|damaged|encrypt|password|error while downloading|no endpoints|only .{0,40}(?:support|accept|allow)|must be a string|no pages|missing data|mmproj/i
/** Matches other parts of the request or the account. A rejection that mentions one of them does not concern media. */
const ofOthers =
  /\b(?:tools?|functions?|parameters?|arguments?|schemas?|response_format|generat\w+|edit\w*|output|search|stores?|quota|billing|credits?|region|organi[sz]ation|account|permissions?|temperature|max_tokens|thinking|cache_control)\b/i
/** Matches messages from models without media input. Some providers use a separate status. */
const takesNone =
  /\b(?:image|vision|multi-?modal|audio|video|pdf|document|file)\b.{0,60}(?:support|mmproj|enabled|required for)|support.{0,40}\b(?:image|vision|multi-?modal|audio|video|pdf)/i
/** Statuses of invalid requests. */
const badRequest: ReadonlySet<number | undefined> = new Set([undefined, 400, 413, 415, 422])
const seldom: ReadonlySet<number | undefined> = new Set([404, 500, 501])

/** Media information in a rejection. */
export interface MediaRefusal {
  /** Request paths that the rejection mentions. */
  places: readonly string[]
  /** Whether the rejection may concern media although no mentioned path contains any. */
  mayBeAny: boolean
}

/** Returns whether a provider rejected a request because of its size in bytes, not tokens. */
export function isTooLarge({ status, message }: ProviderError): boolean {
  return status === 413 || tooLarge.test(message)
}

/** Parses the media information in a rejection, or `undefined` if the rejection does not concern media. */
export function mediaRefusalIn({ text, param, raw }: RefusalWords, error: ProviderError): MediaRefusal | undefined {
  const { status } = error
  if (isTooLarge(error)) return { places: [], mayBeAny: true }
  const words = plainWords(text)
  if (!badRequest.has(status) && !(seldom.has(status) && takesNone.test(words))) return undefined
  const all = [...new Set([param ?? '', text, raw].flatMap((source) => source.match(placeForm) ?? []))]
  const places = all.filter((place) => !siblingOfMedia.test(place))
  if (all.length > 0) {
    const isOfMedia =
      aboutMedia.test(words) || places.some((place) => intoMedia.test(place)) || /must be a string|unknown variant/i.test(words)
    return isOfMedia && places.length > 0 ? { places, mayBeAny: places.some((place) => intoMedia.test(place)) } : undefined
  }
  if (param !== undefined && !aboutMedia.test(param) && !conversation.test(param)) return undefined
  return aboutMedia.test(words) && fault.test(words) && !ofOthers.test(words) ? { places: [], mayBeAny: true } : undefined
}

/** Removes short quoted texts, such as tool names, from the message. Keeps protocol terms. */
function plainWords(text: string): string {
  return text.replace(/(?<!\w)(["'`])(.*?)\1(?!\w)/g, (quoted, _mark, inside: string) =>
    protocolWord.test(inside) || inside.split(/\s+/).length > maxQuotedWords ? quoted : ' ',
  )
}

const maxQuotedWords = 3
const protocolWord =
  /^(?:(?:image|audio|video|application)\/[\w.+-]+|image|audio|video|pdf|file|document|media|image_url|input_image|input_file|file_data|inline_?data)$/i
