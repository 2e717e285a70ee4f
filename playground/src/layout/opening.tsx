/** What is seen until the agent is there. */
export function Opening() {
  return (
    <div class="app" aria-busy="true">
      <header class="top-bar">
        <h1 class="brand">
          <span class="brand-mark" aria-hidden="true">
            φ
          </span>
          phi <span class="brand-sub">playground</span>
        </h1>
      </header>
    </div>
  )
}
