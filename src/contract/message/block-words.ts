import { definedFields, type JsonObject, type JsonValue } from '../json.ts'
import { type Content, type FileContent, type ImageContent, isMedia, type ServiceToolContent } from './content.ts'

/** How much of a service tool's output is told to another model, in UTF-16 units. */
const maxOutputChars = 4000

/** What of media a person or a model is told where it cannot be shown: `report.pdf (application/pdf)`. */
export function mediaName(block: ImageContent | FileContent): string {
  const name = block.type === 'file' ? block.name : undefined
  return name === undefined ? block.mimeType : `${name} (${block.mimeType})`
}

/** The fields of a block of media that everybody may see: all but the state of a service. */
export function toldMedia(block: ImageContent | FileContent): JsonObject {
  const { providerState: _own, ...told } = block
  return definedFields(told)
}

/** What a tool of a service did, in words: for another service, and for summaries. */
export function serviceToolText({ name, input, status, output, error }: ServiceToolContent): string {
  const asked = input === undefined ? '' : ` ${JSON.stringify(input)}`
  if (error !== undefined) return `[${name}${asked} failed: ${error.message ?? error.code}]`
  if (output === undefined) return `[${name}${asked}${status === 'running' ? ' has not ended' : ''}]`
  const found = outputText(output)
  return `[${name}${asked} found: ${found.length > maxOutputChars ? `${found.slice(0, maxOutputChars)}…` : found}]`
}

/** Sources by title and address, anything else as JSON. */
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

/** A block that only its own service can read, as text for anybody else; `undefined` where it says nothing to others. */
export function wordsOf(block: Content): string | undefined {
  if (block.type === 'serviceTool') return serviceToolText(block)
  return isMedia(block) ? `[${block.type} ${mediaName(block)}]` : undefined
}

/** The error code of a provider-executed tool whose end was never reported. */
export const interrupted = 'interrupted'

/** Whether a block is a provider-executed tool that has not ended. */
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
