import { CodeBlock } from '../markdown/code-block.tsx'
import { programOf } from './program.ts'
import type { Settings } from './settings.ts'

/** Shows a program that uses the SDK to do the same as the page with these settings. */
export function CodeTab({ draft, prompt }: { draft: Settings; prompt: string | undefined }) {
  return (
    <div class="program" data-testid="program">
      <p class="settings-note">
        Exactly these settings, as a program for Node, Deno or Bun. Keys come from the environment. CI type-checks and runs programs like
        this one.
      </p>
      <CodeBlock language="ts" code={programOf(draft, prompt)} isGrowing={false} />
    </div>
  )
}
