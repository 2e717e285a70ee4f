import { randomUUID } from 'node:crypto'
import type { Plugin } from 'vite'

const builtPolicy = "style-src 'self'"

/**
 * Returns a Vite plugin that lets the page use the styles of the dev server. Vite injects each imported style sheet as a `<style>` element, which the
 * Content-Security-Policy of the page blocks. The plugin gives these elements a nonce, and adds the nonce to the policy.
 *
 * - Applies to the dev server only: the build and its preview keep the policy as it is written.
 * - Style attributes stay blocked, as in the build.
 * - The dev server reports an error if the page has no policy for styles to extend.
 */
export function nonceForDevStyles(): Plugin {
  const nonce = randomUUID()
  return {
    name: 'phi:nonce-for-dev-styles',
    apply: (_config, { command, isPreview }) => command === 'serve' && isPreview !== true,
    config: () => ({ html: { cspNonce: nonce } }),
    transformIndexHtml(html) {
      if (!html.includes(`${builtPolicy};`)) {
        throw new Error(`The page has no policy "${builtPolicy};". Change scripts/nonce-for-dev-styles.ts together with the policy.`)
      }
      return html.replace(builtPolicy, `${builtPolicy} 'nonce-${nonce}'`)
    },
  }
}
