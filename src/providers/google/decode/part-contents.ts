import type { GeminiPart } from '../wire.ts'

/** Kinds of part content, in reading order. */
const contents = ['text', 'inlineData', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'functionCall'] as const
const contentNames: ReadonlySet<string> = new Set(contents)

/** Fields that may accompany the content. */
export const metadataNames: ReadonlySet<string> = new Set([
  ...['thought', 'thoughtSignature', 'videoMetadata', 'partMetadata', 'mediaResolution', 'mediaProcessing'],
])

/** All fields of a part that are read. */
export const knownOfParts: ReadonlySet<string> = new Set([...contents, ...metadataNames])

const plainNames: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature'])

/** Returns whether a part is only text, as nearly all are. Called for every delta. */
export function isPlainText(part: GeminiPart): boolean {
  if (typeof part.text !== 'string') return false
  for (const name in part) if (!plainNames.has(name)) return false
  return true
}

/** Counts the contents of a part, usually one. `hasMore`: the part has unknown fields, which count as content if there is no other. */
export function contentsIn(part: GeminiPart): { count: number; hasMore: boolean } {
  let count = 0
  let isKnown = false
  let hasUnknown = false
  for (const name in part) {
    if (!contentNames.has(name)) hasUnknown ||= !metadataNames.has(name)
    else if (Reflect.get(part, name) !== null) {
      isKnown = true
      if (isPresent(Reflect.get(part, name))) count += 1
    }
  }
  return { count, hasMore: isKnown && hasUnknown }
}

/** Splits a part with several contents. The last content gets the signature, which covers all of them. */
export function splitPart({ thoughtSignature, ...part }: GeminiPart): GeminiPart[] {
  const { thought } = part
  const parts = contents.flatMap((name): GeminiPart[] =>
    isPresent(part[name]) ? [{ [name]: part[name], ...(thought !== undefined && { thought }) }] : [],
  )
  return parts.map((each, at) => (at === parts.length - 1 && thoughtSignature ? { ...each, thoughtSignature } : each))
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
