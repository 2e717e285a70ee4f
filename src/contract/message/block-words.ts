import { definedFields, type JsonObject, type JsonValue } from '../json.ts'
import { type Content, type FileContent, type ImageContent, isMedia, type ServiceToolContent } from './content.ts'

/** Maximum length of a provider-executed tool's output in text for another model, in UTF-16 units. */
const maxOutputChars = 4000

/** Label of media that cannot be shown: `report.pdf (application/pdf)`. */
export function mediaName(block: ImageContent | FileContent): string {
  const name = block.type === 'file' ? block.name : undefined
  return name === undefined ? block.mimeType : `${name} (${block.mimeType})`
}

/** Returns the public fields of a media block, without `providerState`. */
export function mediaFields(block: ImageContent | FileContent): JsonObject {
  const { providerState: _own, ...fields } = block
  return definedFields(fields)
}

/** Describes a provider-executed tool call as text, for other providers and for summaries. */
export function serviceToolText({ name, input, status, output, error }: ServiceToolContent): string {
  const asked = input === undefined ? '' : ` ${JSON.stringify(input)}`
  if (error !== undefined) return `[${name}${asked} failed: ${error.message ?? error.code}]`
  if (output === undefined) return `[${name}${asked}${status === 'running' ? ' has not ended' : ''}]`
  const found = outputText(output)
  return `[${name}${asked} found: ${found.length > maxOutputChars ? `${found.slice(0, maxOutputChars)}…` : found}]`
}

/** Sources by title and URL, anything else as JSON. */
function outputText(output: JsonValue): string {
  if (typeof output === 'string') return output
  if (!Array.isArray(output)) return JSON.stringify(output)
  return output
    .map((each) => {
      const { title, url } = Object(each) as { title?: unknown; url?: unknown } // any JSON
      if (typeof url !== 'string') return JSON.stringify(each)
      return typeof title === 'string' && title !== '' ? `${title} <${url}>` : url
    })
    .join('; ')
}

/** Converts a provider-specific block to text for other providers; `undefined` if it has no text form. */
export function wordsOf(block: Content): string | undefined {
  if (block.type === 'serviceTool') return serviceToolText(block)
  return isMedia(block) ? `[${block.type} ${mediaName(block)}]` : undefined
}

/** Error code of a provider-executed tool whose end was never reported. */
export const interrupted = 'interrupted'

/** Returns whether a block is a provider-executed tool that has not ended. */
export function isRunningTool(block: Content): block is ServiceToolContent {
  return block.type === 'serviceTool' && block.status === 'running'
}

/** Returns a running provider-executed tool as failed, because its response ended before its result came. */
export function interruptedTool(block: ServiceToolContent): ServiceToolContent {
  const error = { code: interrupted, message: 'The response ended before the provider reported a result of this tool.' }
  return { ...block, status: 'failed', error }
}

/** Returns the content of a response that failed or was aborted: each tool that still runs is interrupted. The same array if none runs. */
export function withToolsEnded(content: Content[]): Content[] {
  if (!content.some(isRunningTool)) return content
  return content.map((block) => (isRunningTool(block) ? interruptedTool(block) : block))
}
