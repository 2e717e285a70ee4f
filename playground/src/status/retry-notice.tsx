import { useEffect, useState } from 'preact/hooks'
import { escapeControls, type RetryView } from '../../../src/store.ts'
import { Icon } from '../parts/icon.tsx'
import { wordsOfService } from '../state/notices/failure-words.ts'

/** Shows a countdown ("Retrying in 2 s") until the loop retries a failed model call. */
export function RetryNotice({ retry }: { retry: RetryView | undefined }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (retry === undefined) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [retry])
  if (retry === undefined) return null
  const seconds = Math.max(0, Math.ceil((retry.retryAt - now) / 1000))
  return (
    <p class="retry" data-testid="retry">
      <Icon name="spinner" class="spinner" />
      <strong>
        Retry {retry.attempt} of {retry.maxRetries} in {seconds} s
      </strong>
      <span>{escapeControls(wordsOfService(retry.error.message))}</span>
    </p>
  )
}
