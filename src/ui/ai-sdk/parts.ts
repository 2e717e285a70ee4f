import { type Content, type FileContent, type ImageContent, isMedia } from '../../contract/message/content.ts'
import { textOf } from '../../contract/message/message.ts'
import type { UiChunk, UiFileChunk, UiFilePart, UiPart, UiTextPart, UiToolOutput, UiToolPart, UiToolState } from './ui-message.ts'

/** Text and images of `content` as a user message shows them. */
export function partsOf(content: readonly Content[]): (UiTextPart | UiFilePart)[] {
  return content.flatMap((block): (UiTextPart | UiFilePart)[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    return isMedia(block) ? fileParts(block) : []
  })
}

/** An image or a file, inline or by URL; none if only a provider has it. */
export function fileParts(block: ImageContent | FileContent): UiFilePart[] {
  const { data, url, mimeType } = block
  const address = data === undefined ? url : `data:${mimeType};base64,${data}`
  const filename = block.type === 'file' ? block.name : undefined
  return address === undefined ? [] : [{ type: 'file', mediaType: mimeType, url: address, ...(filename !== undefined && { filename }) }]
}

/** Transcript of generated audio as a separate part, because a client cannot show the words of a file. */
export function transcriptPart(block: ImageContent | FileContent): (UiTextPart & { state: 'done' })[] {
  const transcript = block.type === 'file' && block.mimeType.startsWith('audio/') ? (block.context ?? '') : ''
  return transcript === '' ? [] : [{ type: 'text', text: transcript, state: 'done' }]
}

/** A file in a stream: chunks have no field for its name, so it is separate. */
export function fileChunk({ filename, ...file }: UiFilePart): UiFileChunk {
  return filename === undefined ? file : { ...file, providerMetadata: { phi: { filename } } }
}

/** Returns the output of a tool: its text, or its parts if there are images. */
export function outputOf(content: readonly Content[]): UiToolOutput {
  return content.some(isMedia) ? partsOf(content) : textOf(content)
}

/** How `parts` are sent. */
interface SentParts {
  /** How many steps the client has already. Default: none. */
  after?: number
  /** Makes the client run its pending calls. Default: events request them. */
  asks?: boolean
}

/** The chunks that build `parts` in a client that lacks them. */
export function chunksOf(parts: readonly UiPart[], { after = 0, asks = false }: SentParts = {}): UiChunk[] {
  const chunks: UiChunk[] = []
  let steps = 0
  for (const [index, part] of parts.entries()) {
    if (part.type === 'step-start') {
      steps += 1
      if (steps > after + 1) chunks.push({ type: 'finish-step' })
      if (steps > after) chunks.push({ type: 'start-step' })
    } else if (after === 0 || steps > after) chunks.push(...chunksOfPart(part, `${index}`, asks))
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
    return part.state === 'output-denied' ? [written, asked, { type: 'tool-output-denied', toolCallId }] : [written, asked]
  }
  const ending = outputChunk(toolCallId, part, { isOfService: providerExecuted === true, isDynamic: part.type === 'dynamic-tool' })
  return ending === undefined ? [written] : [written, ending]
}

function isToolPart(part: UiPart): part is UiToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-')
}

/** Returns the result chunk of a call; undefined without a result. */
export function outputChunk(
  toolCallId: string,
  state: UiToolState,
  { isOfService, isDynamic = true }: { isOfService: boolean; isDynamic?: boolean },
): UiChunk | undefined {
  const end = { toolCallId, ...(isDynamic && { dynamic: true as const }), ...(isOfService && { providerExecuted: true as const }) }
  if (state.state === 'output-available') return { type: 'tool-output-available', output: state.output, ...end }
  return state.state === 'output-error' ? { type: 'tool-output-error', errorText: state.errorText, ...end } : undefined
}

/** Id of a block while it streams; unique within an answer, and short because every delta contains it. */
export function blockId(step: number, contentIndex: number): string {
  return `${step}.${contentIndex}`
}

/** A text or a thought, whole. */
export function wholeText(type: 'text' | 'reasoning', id: string, text: string): UiChunk[] {
  return [
    { type: `${type}-start`, id },
    { type: `${type}-delta`, id, delta: text },
    { type: `${type}-end`, id },
  ]
}
