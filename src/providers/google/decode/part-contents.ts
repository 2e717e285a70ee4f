import type { GeminiPart } from '../wire.ts'

/** What a part may be, in the order in which several of them are read. */
const contents = ['text', 'inlineData', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'functionCall'] as const
const contentNames: ReadonlySet<string> = new Set(contents)

/** Fields that stand beside what a part is. */
export const besideContent: ReadonlySet<string> = new Set([
  ...['thought', 'thoughtSignature', 'videoMetadata', 'partMetadata', 'mediaResolution', 'mediaProcessing'],
])

/** All fields of a part that are read. */
export const knownOfParts: ReadonlySet<string> = new Set([...contents, ...besideContent])

const plainNames: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature'])

/** Whether a part is text and nothing else, as nearly all are. It runs for every delta. */
export function isPlainText(part: GeminiPart): boolean {
  if (typeof part.text !== 'string') return false
  for (const name in part) if (!plainNames.has(name)) return false
  return true
}

/** How many contents a part has, one as a rule, and whether fields that are not known stand beside them: of a part without any, they are what it is. */
export function contentsIn(part: GeminiPart): { count: number; hasMore: boolean } {
  let count = 0
  let isKnown = false
  let hasUnknown = false
  for (const name in part) {
    if (!contentNames.has(name)) hasUnknown ||= !besideContent.has(name)
    else if (Reflect.get(part, name) !== null) {
      isKnown = true
      if (isSaid(Reflect.get(part, name))) count += 1
    }
  }
  return { count, hasMore: isKnown && hasUnknown }
}

/** A part of several contents as parts of one each. The last carries the signature: it was made once all of them were. */
export function splitPart({ thoughtSignature, ...part }: GeminiPart): GeminiPart[] {
  const { thought } = part
  const parts = contents.flatMap((name): GeminiPart[] =>
    isSaid(part[name]) ? [{ [name]: part[name], ...(thought !== undefined && { thought }) }] : [],
  )
  return parts.map((each, at) => (at === parts.length - 1 && thoughtSignature ? { ...each, thoughtSignature } : each))
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
