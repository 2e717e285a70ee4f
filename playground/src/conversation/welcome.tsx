/** What an empty page says. */
export function Welcome({ isScripted }: { isScripted: boolean }) {
  return (
    <div class="welcome">
      <span class="welcome-mark" aria-hidden="true">
        φ
      </span>
      <h2>See the loop think</h2>
      {isScripted ? (
        <>
          <p>
            An agent runs in this tab. The loop, the tools, the approvals and the retries are the real SDK; only the model is{' '}
            <strong>scripted</strong>: it plays prepared answers and needs neither a key nor the network.
          </p>
          <p>Pick a scenario below, or write something. The inspector shows what was sent, and why.</p>
        </>
      ) : (
        <p>Write something. The inspector shows what was sent, and why.</p>
      )}
    </div>
  )
}
