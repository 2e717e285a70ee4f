import { forgetKeys, keyOwners } from './key-vault.ts'

/** Shows that this page stores secrets. */
export function KeyBanner() {
  if (keyOwners.value.length === 0) return null
  return (
    <p class="key-banner" role="note" data-testid="key-banner">
      <span>This page contains your API key. Every script and extension on it can read the key.</span>
      <button type="button" class="small" onClick={forgetKeys}>
        Forget
      </button>
    </p>
  )
}
