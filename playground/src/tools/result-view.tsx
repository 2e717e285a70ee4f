import { type ToolResult, textOf } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'
import { Media } from '../parts/media.tsx'
import { scrollable } from '../parts/scrollable.ts'

/** Number of characters of a text that are shown initially. */
const shownLength = 20_000

/** A tool result: text, images and files. */
export function ResultView({ name, result }: { name: string; result: ToolResult }) {
  const text = textOf(result.content)
  return (
    <>
      {(text !== '' || result.content.length === 0) && <Labelled name={name} text={text || '(no text)'} />}
      {result.content.map((block, at) =>
        block.type === 'image' || block.type === 'file' ? <Media key={at} block={block} alt={`${name} ${at + 1}`} /> : null,
      )}
    </>
  )
}

export function Labelled({ name, text }: { name: string; text: string }) {
  const isCut = text.length > shownLength
  return (
    <div class="tool-part">
      <span class="tool-label">{escapeControls(name)}</span>
      <pre {...scrollable}>
        {escapeControls(isCut ? `${text.slice(0, shownLength)}\n… ${text.length - shownLength} more characters` : text)}
      </pre>
    </div>
  )
}
