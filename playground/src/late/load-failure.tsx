/** Reports that code of the page cannot be loaded, because the network is down or there is a newer version. `what` starts the sentence. */
export function LoadFailure({ what = 'This part of the page' }: { what?: string }) {
  return (
    <p class="nothing" role="alert" data-testid="load-failure">
      {what} could not be loaded. Your message is saved.{' '}
      <button type="button" class="small" onClick={() => location.reload()}>
        Reload the page
      </button>
    </p>
  )
}
