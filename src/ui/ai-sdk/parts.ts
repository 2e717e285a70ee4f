import { type Content, type FileContent, type ImageContent, isMedia } from '../../contract/message/content.ts'
import { textOf } from '../../contract/message/message.ts'
import type {
  UiChunk,
  UiDataPart,
  UiFileChunk,
  UiFilePart,
  UiPart,
  UiTextPart,
  UiToolOutput,
  UiToolPart,
  UiToolState,
} from './ui-message.ts'

/** Returns the text and media of `content` as message parts. */
export function partsOf(content: readonly Content[]): (UiTextPart | UiFilePart)[] {
  return content.flatMap((block): (UiTextPart | UiFilePart)[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    return isMedia(block) ? fileParts(block) : []
  })
}

/** Returns an image or file as a part, inline or by URL; none if only a provider stores the file. */
export function fileParts(block: ImageContent | FileContent): UiFilePart[] {
  const { data, url, mimeType } = block
  const address = data === undefined ? url : `data:${mimeType};base64,${data}`
  const filename = block.type === 'file' ? block.name : undefined
  return address === undefined ? [] : [{ type: 'file', mediaType: mimeType, url: address, ...(filename !== undefined && { filename }) }]
}

/** Returns generated audio's transcript as a separate part, because clients cannot display it in a file part. */
export function transcriptPart(block: ImageContent | FileContent): (UiTextPart & { state: 'done' })[] {
  const transcript = block.type === 'file' && block.mimeType.startsWith('audio/') ? (block.context ?? '') : ''
  return transcript === '' ? [] : [{ type: 'text', text: transcript, state: 'done' }]
}

/** Returns a file chunk. Chunks have no field for the file name, so it is stored in `providerMetadata`. */
export function fileChunk({ filename, ...file }: UiFilePart): UiFileChunk {
  return filename === undefined ? file : { ...file, providerMetadata: { phi: { filename } } }
}

/** Returns the output of a tool: text, or parts if it includes media. */
export function outputOf(content: readonly Content[]): UiToolOutput {
  return content.some(isMedia) ? partsOf(content) : textOf(content)
}

/** Options for sending parts. */
interface SentParts {
  /** Number of steps that the client already has. Default: 0. */
  after?: number
  /** Whether the chunks make the client run pending client calls. Default: false, because events request them. */
  asks?: boolean
  /** Calls that the client has as pending, although they may have ended. */
  decided?: readonly string[]
}

/** Whether this is a data part that the history contains. It replaces an earlier one with its id. */
export function isStoredPart(part: UiPart | UiChunk): part is UiDataPart {
  return part.type.startsWith('data-') && 'id' in part && !('transient' in part)
}

/** Returns the chunks from which a client builds missing `parts`, and all data parts, because the client may have old values. */
export function chunksOf(parts: readonly UiPart[], { after = 0, asks = false, decided = [] }: SentParts = {}): UiChunk[] {
  const chunks: UiChunk[] = []
  let steps = 0
  for (const [index, part] of parts.entries()) {
    if (part.type === 'step-start') {
      steps += 1
      if (steps > after + 1) chunks.push({ type: 'finish-step' })
      if (steps > after) chunks.push({ type: 'start-step' })
    } else if (after === 0 || steps > after || isStoredPart(part)) chunks.push(...chunksOfPart(part, `${index}`, asks))
    else if (isToolPart(part) && decided.includes(part.toolCallId)) chunks.push(...endOf(part))
  }
  return chunks
}

function chunksOfPart(part: Exclude<UiPart, { type: 'step-start' }>, textId: string, asks: boolean): UiChunk[] {
  if (part.type === 'text') return wholeText('text', textId, part.text)
  if (part.type === 'reasoning') return wholeText('reasoning', part.id, part.text)
  if (part.type === 'file') return [fileChunk(part)]
  if (!isToolPart(part)) return [part]
  const { toolCallId, toolName, input, title, providerExecuted } = part
  if (part.type !== 'dynamic-tool' && part.state === 'input-available') {
    // A client tool runs only after it is requested.
    const begun: UiChunk = { type: 'tool-input-start', toolCallId, toolName }
    return asks ? [begun, { type: 'tool-input-available', toolCallId, toolName, input, providerExecuted: false }] : [begun]
  }
  const written: UiChunk = {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input,
    ...(part.type === 'dynamic-tool' ? { dynamic: true } : { providerExecuted: true }),
    ...(providerExecuted && { providerExecuted }),
    ...(title !== undefined && { title }),
  }
  if (part.state === 'approval-requested' || part.state === 'output-denied') {
    const asked: UiChunk = { type: 'tool-approval-request', approvalId: part.approval.id, toolCallId }
    return [written, asked, ...endOf(part)]
  }
  return [written, ...endOf(part)]
}

/** The chunk that ends a call; none for a pending one. */
function endOf(part: UiToolPart): UiChunk[] {
  const { type, toolCallId, providerExecuted } = part
  if (part.state === 'output-denied') return [{ type: 'tool-output-denied', toolCallId }]
  const ending = outputChunk(toolCallId, part, { isOfService: providerExecuted === true, isDynamic: type === 'dynamic-tool' })
  return ending === undefined ? [] : [ending]
}

function isToolPart(part: UiPart): part is UiToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-')
}

/** Returns the result chunk of a call, or `undefined` without a result. */
export function outputChunk(
  toolCallId: string,
  state: UiToolState,
  { isOfService, isDynamic = true }: { isOfService: boolean; isDynamic?: boolean },
): UiChunk | undefined {
  const end = { toolCallId, ...(isDynamic && { dynamic: true as const }), ...(isOfService && { providerExecuted: true as const }) }
  if (state.state === 'output-available') return { type: 'tool-output-available', output: state.output, ...end }
  return state.state === 'output-error' ? { type: 'tool-output-error', errorText: state.errorText, ...end } : undefined
}

/** Returns the stream id of a block. Unique within a response, and short because every delta contains it. */
export function blockId(step: number, contentIndex: number): string {
  return `${step}.${contentIndex}`
}

/** Returns the chunks of a complete text or reasoning block. */
export function wholeText(type: 'text' | 'reasoning', id: string, text: string): UiChunk[] {
  return [
    { type: `${type}-start`, id },
    { type: `${type}-delta`, id, delta: text },
    { type: `${type}-end`, id },
  ]
}
