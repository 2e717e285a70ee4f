import type { WireContent } from './call.ts'

/** How a family differs. */
export interface GrammarRules {
  /** Gemini 3 and later: calls carry ids and a signature, results may carry media. */
  isModern: boolean
  /** Ids that the service gave: they may be any, and repeat. */
  issued?: ReadonlySet<string>
}

type Part = Record<string, unknown>

/**
 * What `streamGenerateContent` demands of `contents`, as far as a history can break it:
 *
 * ```
 * contents = user (model user)*            roles alternate; user first, user last; at least one part each
 * user     = functionResponse* (inlineData | text)*     results exactly those of the calls just before, all in this content
 * model    = text | thought | functionCall              each may be signed
 * call     = name [a-zA-Z_][a-zA-Z0-9_.:-]{0,63}, args an object; modern: unique id, the first of a content signed; old: no id
 * result   = name (and id) of its call; output or error; modern: media inside; old: media behind all results
 * text     = not blank unless signed; well-formed Unicode everywhere
 * ```
 *
 * Returns what is wrong; an empty list means the request is accepted.
 */
export function geminiFaults(contents: readonly WireContent[], rules: GrammarRules): string[] {
  const faults: string[] = []
  const used = new Set<unknown>()
  let pending: Part[] = []
  contents.forEach(({ role, parts }, index) => {
    const at = `content ${index}`
    if (role !== (index % 2 === 0 ? 'user' : 'model')) faults.push(`${at}: role ${role}`)
    if (parts.length === 0) faults.push(`${at}: empty`)
    const found = parts.flatMap((part) => (part.functionResponse ? [part.functionResponse as Part] : []))
    const keys = (list: Part[]) => JSON.stringify(list.map(({ id, name }) => [id, name]))
    if (keys(found) !== keys(pending)) faults.push(`${at}: results ${keys(found)} for calls ${keys(pending)}`)
    if (parts.slice(found.length).some((part) => part.functionResponse)) faults.push(`${at}: a result behind other parts`)
    for (const part of parts) faults.push(...partFaults(part, role, rules).map((fault) => `${at}: ${fault}`))
    const calls = parts.filter((part) => part.functionCall)
    if (rules.isModern && calls[0] !== undefined && !isSigned(calls[0])) faults.push(`${at}: Function call is missing a thought_signature`)
    pending = calls.map((part) => part.functionCall as Part)
    for (const { id } of rules.isModern ? pending : []) {
      if (used.has(id) && rules.issued?.has(String(id)) !== true) faults.push(`${at}: id ${id} twice`)
      used.add(id)
    }
  })
  if (contents.at(-1)?.role !== 'user') faults.push('does not end with a user content')
  if (/\p{Surrogate}/u.test(deepText(contents))) faults.push('lone surrogate')
  return faults
}

/** Every text of a value, keys too. */
function deepText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, child]) => key + deepText(child))
    .join('\n')
}

function isSigned({ thoughtSignature }: Part): boolean {
  return typeof thoughtSignature === 'string' && thoughtSignature !== ''
}

function partFaults(part: Part, role: string, rules: GrammarRules): string[] {
  const kinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'].filter((kind) => kind in part)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) return [`part with ${kinds}`]
  const allowed = role === 'user' ? ['text', 'inlineData', 'fileData', 'functionResponse'] : ['text', 'functionCall']
  if (!allowed.includes(kind)) return [`${kind} from ${role}`]
  if (role === 'user' && ('thought' in part || 'thoughtSignature' in part)) return ['thoughts from a user']
  if (kind === 'text') return isSigned(part) || String(part.text).trim() !== '' ? [] : ['blank text']
  if (kind === 'fileData') return fileFaults(part.fileData as Part)
  if (kind === 'functionCall') return callFaults(part.functionCall as Part, rules)
  return kind === 'functionResponse' ? resultFaults(part.functionResponse as Part, rules) : []
}

function fileFaults({ mimeType, fileUri }: Part): string[] {
  return typeof mimeType === 'string' && /^https:\/\/\S+$/.test(String(fileUri)) ? [] : [`no file: ${mimeType} at ${fileUri}`]
}

function callFaults(call: Part, rules: GrammarRules): string[] {
  const { args } = call
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args)
  return [...nameFaults(call, rules), ...(isObject ? [] : ['args are no object'])]
}

function resultFaults(result: Part, rules: GrammarRules): string[] {
  const { output, error, ...more } = result.response as Part
  const said = [output, error].filter((text) => typeof text === 'string' && text.trim() !== '')
  const faults = said.length === 1 && Object.keys(more).length === 0 ? [] : ['a response is one of output and error']
  const parts = (result.parts ?? []) as Part[]
  if (parts.length > 0 && !rules.isModern) faults.push('media in a result')
  if (parts.some((part) => !('inlineData' in part || 'fileData' in part))) faults.push('a result may hold media only')
  return [...faults, ...nameFaults(result, rules)]
}

function nameFaults({ id, name }: Part, { isModern, issued }: GrammarRules): string[] {
  const faults = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(String(name)) ? [] : [`illegal name ${name}`]
  if (isModern && (typeof id !== 'string' || id === '' || (id.length > 256 && issued?.has(id) !== true))) faults.push(`illegal id ${id}`)
  if (!isModern && id !== undefined) faults.push('an id')
  return faults
}
