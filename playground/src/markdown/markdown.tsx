import { useMemo, useRef } from 'preact/hooks'
import { type Block, BlockReader } from './blocks.ts'
import { CodeBlock } from './code-block.tsx'
import { withoutMarks } from './marks.ts'
import { mathRenderer } from './math.ts'
import { proseHtml } from './prose.ts'

/** A text written by a model. While it grows, only its last block is parsed and rendered again. */
export function Markdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const reader = useRef<BlockReader>(null)
  reader.current ??= new BlockReader()
  const blocks = reader.current.read(text)
  return (
    <div class={isGrowing ? 'text prose growing' : 'text prose'}>
      {blocks.map((block, at) => (
        // A block's index never changes.
        <BlockOf key={at} block={block} isGrowing={isGrowing && at === blocks.length - 1} />
      ))}
    </div>
  )
}

function BlockOf({ block, isGrowing }: { block: Block; isGrowing: boolean }) {
  return useMemo(() => {
    if (block.kind === 'code') return <CodeBlock code={withoutMarks(block.code)} language={block.language} isGrowing={isGrowing} />
    if (block.kind === 'plain') return <p class="plain">{withoutMarks(block.raw)}</p>
    // The only place that sets HTML, which DOMPurify has sanitized.
    return <div class="block" dangerouslySetInnerHTML={{ __html: proseHtml(block.raw) }} />
    // Formulas are rendered once their renderer has loaded.
  }, [block.raw, block.kind, isGrowing && block.kind === 'code', mathRenderer.value])
}
