import { cacheHitRate } from '../../../../src/context.ts'
import type { Usage } from '../../../../src/index.ts'
import { percent, short } from '../../parts/figures.ts'
import type { RequestBlock } from './request-blocks.ts'

/** How much of a request could come from a cache, and how much did. */
export function CacheCover({
  blocks,
  usage,
  hasPrevious,
}: {
  blocks: readonly RequestBlock[]
  usage: Usage | undefined
  hasPrevious: boolean
}) {
  const all = Math.max(1, sum(blocks))
  const common = sum(blocks.filter(({ isCommon }) => isCommon))
  const could = hasPrevious ? `${percent(common / all)} same as in the previous request` : 'first request, nothing to compare'
  const did =
    usage === undefined ? '' : ` · the service read ${percent(cacheHitRate(usage))} (${short(usage.cacheRead)} tok) from its cache`
  return (
    <div class="cover">
      <div class="cover-bar" role="img" aria-label={`Cache: ${could}${did}`}>
        {blocks.map((block) => (
          <span
            key={block.id}
            class="cover-part"
            data-cached={block.isCommon}
            style={{ flexGrow: block.tokens }}
            title={`#${block.number} ${block.origin}, ${short(block.tokens)} tok`}
          />
        ))}
      </div>
      <p class="soft">{could + did}</p>
    </div>
  )
}

function sum(blocks: readonly RequestBlock[]): number {
  return blocks.reduce((total, { tokens }) => total + tokens, 0)
}
