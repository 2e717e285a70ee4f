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

/** Formats sources as title and URL, and other values as JSON. */
function outputText(output: JsonValue): string {
  if (typeof output === 'string') return output
  if (!Array.isArray(output)) return JSON.stringify(output)
  return output
    .map((each) => {
      const { title, url } = Object(each) as { title?: unknown; url?: unknown } // any JSON value
      if (typeof url !== 'string') return JSON.stringify(each)
      return typeof title === 'string' && title !== '' ? `${title} <${url}>` : url
    })
    .join('; ')
}

/** Converts a provider-specific block to text for other providers, or `undefined` if it has no text form. */
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

/** Marks a running provider-executed tool as failed, because the response ended before its result arrived. */
export function interruptedTool(block: ServiceToolContent): ServiceToolContent {
  const error = { code: interrupted, message: 'The response ended before the provider reported the result of this tool.' }
  return { ...block, status: 'failed', error }
}

/** Marks every running tool in a failed or aborted response as interrupted. Returns the same array if no tool is running. */
export function withToolsEnded(content: Content[]): Content[] {
  if (!content.some(isRunningTool)) return content
  return content.map((block) => (isRunningTool(block) ? interruptedTool(block) : block))
}
