import type { WireBody } from './call.ts'

/** What a family demands. */
export interface BedrockRules {
  ids: RegExp
  signed: boolean
  issued?: ReadonlySet<string>
}

/**
 * What ConverseStream demands of a body, as far as a history can break it:
 *
 * ```
 * messages  = user (assistant user)*                   roles alternate; user first, user last
 * user      = toolResult* (text | image | document | video)*  at least one block; a document has text beside it; results exactly those of the calls just before, all in one message
 * assistant = reasoningContent* … text | toolUse       at least one block; does not end with reasoning
 * ids       = the pattern of the family, unique        names = [a-zA-Z0-9_-]{1,64}
 * text      = not blank, well-formed Unicode           also inside results, which are never empty; failed ones hold text only
 * reasoning = redactedContent, or text with a signature (Claude)
 * document  = at most five of them in a message          names of letters, digits and hyphens, each once in a conversation
 * cachePoint = behind a block, at most four of them    toolConfig wherever there are tool blocks
 * ```
 *
 * `rules.issued` are ids that the service gave, which may be any. Returns what is wrong; an empty list means the request is accepted.
 */
export function bedrockFaults(body: WireBody, rules: BedrockRules): string[] {
  const faults: string[] = []
  const used = new Set<string>()
  let pending: string[] = []
  body.messages.forEach(({ role, content }, index) => {
    const at = `message ${index}`
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) faults.push(`${at}: role ${role}`)
    if (content.length === 0 || kindOf(content[0]) === 'cachePoint') faults.push(`${at}: empty`)
    const results = content.flatMap(({ toolResult }) => (toolResult === undefined ? [] : [String(Object(toolResult).toolUseId)]))
    if (JSON.stringify(results) !== JSON.stringify(pending)) faults.push(`${at}: results ${results} for calls ${pending}`)
    pending = []
    let isPastResults = false
    for (const block of content) {
      const kind = kindOf(block)
      faults.push(...blockFaults(kind, Object(block[kind]), block, role, rules).map((fault) => `${at}: ${fault}`))
      if (kind === 'toolResult' && isPastResults) faults.push(`${at}: a result behind other blocks`)
      if (kind !== 'toolResult') isPastResults = true
      if (kind !== 'toolUse') continue
      const id = String(Object(block.toolUse).toolUseId)
      if (used.has(id)) faults.push(`${at}: id ${id} twice`)
      used.add(id)
      pending.push(id)
    }
    if (role === 'assistant' && content.findLast((block) => kindOf(block) !== 'cachePoint')?.reasoningContent !== undefined)
      faults.push(`${at}: ends with reasoning`)
  })
  const names = body.messages.flatMap(({ content }) => documentsIn(content).map((each) => String(Object(each).name)))
  for (const [at, name] of names.entries()) {
    if (!/^[\w-]+$/.test(name) || names.indexOf(name) !== at) faults.push(`document ${name}`)
  }
  for (const { content } of body.messages) {
    const own = content.flatMap(({ document }) => (document === undefined ? [] : [document]))
    if (own.length > 5) faults.push(`${own.length} documents in a message`)
    if (own.length > 0 && !content.some(({ text }) => text !== undefined)) faults.push('a document without text')
  }
  if (body.messages.at(-1)?.role !== 'user') faults.push('does not end with a user message')
  if (used.size > 0 && (body.toolConfig?.tools.length ?? 0) === 0) faults.push('tool blocks without toolConfig')
  if (JSON.stringify(body).split('"cachePoint"').length > 5) faults.push('more than four breakpoints')
  return faults
}

/** The documents of a message and of its results. */
function documentsIn(content: readonly Record<string, unknown>[]): unknown[] {
  return content.flatMap(({ document, toolResult }) => {
    const inner: unknown = Object(toolResult).content
    return [...(document === undefined ? [] : [document]), ...(Array.isArray(inner) ? documentsIn(inner) : [])]
  })
}

/** Blocks are unions: exactly one name each. */
function kindOf(block: Record<string, unknown> | undefined): string {
  const names = Object.keys(block ?? {})
  return names.length === 1 ? (names[0] ?? '') : `not one of: ${names.join(', ')}`
}

const allowed: Record<string, string[]> = {
  user: ['text', 'image', 'document', 'video', 'toolResult', 'cachePoint'],
  assistant: ['text', 'reasoningContent', 'toolUse', 'cachePoint'],
}

function blockFaults(
  kind: string,
  inner: Record<string, unknown>,
  block: Record<string, unknown>,
  role: string,
  rules: BedrockRules,
): string[] {
  if (!allowed[role]?.includes(kind)) return [`${kind} from ${role}`]
  if (kind === 'text') return textFaults(block.text)
  if (kind === 'reasoningContent') {
    const { redactedContent, reasoningText } = inner
    if (typeof redactedContent === 'string') return []
    const { text, signature } = Object(reasoningText)
    return typeof text === 'string' && (!rules.signed || typeof signature === 'string') ? [] : ['unsigned reasoning']
  }
  if (kind === 'toolUse') {
    const { toolUseId, name, input } = inner
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
    const isNamed = /^[a-zA-Z0-9_-]{1,64}$/.test(String(name))
    return [...idFaults(toolUseId, rules), ...(isNamed ? [] : [`name ${name}`]), ...(isObject ? [] : ['input is no object'])]
  }
  if (kind !== 'toolResult') return []
  const parts = Array.isArray(inner.content) ? inner.content : []
  const faults = parts.length === 0 ? ['empty result'] : []
  for (const part of parts) {
    if (kindOf(part) === 'text') faults.push(...textFaults(part.text))
    else if (!['image', 'document', 'video'].includes(kindOf(part)) || inner.status === 'error') faults.push(`${kindOf(part)} in a result`)
  }
  return [...faults, ...idFaults(inner.toolUseId, rules)]
}

function idFaults(id: unknown, { ids, issued }: BedrockRules): string[] {
  return issued?.has(String(id)) || ids.test(String(id)) ? [] : [`illegal id ${id}`]
}

function textFaults(text: unknown): string[] {
  if (typeof text !== 'string' || text.trim() === '') return ['blank text']
  return /\p{Surrogate}/u.test(text) ? ['lone surrogate'] : []
}
