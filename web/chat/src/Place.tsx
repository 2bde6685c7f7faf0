// A place as a card with its coordinates and a link to a map; no tile of a third party is loaded.
import type { Part, Place } from "./frame.ts";
import { degrees, mapAddress } from "./href.ts";
import { PinIcon } from "./icons.tsx";
import { plain } from "./linkify.ts";

export function PlaceCard({ place, mapLink }: { place: Part<Place>; mapLink: string }) {
  if (place === null) return <p class="unshown" dir="ltr">A place came here that cannot be shown.</p>;
  const { latitude, longitude } = place;
  const map = mapAddress(mapLink, latitude, longitude);
  return (
    <div class="card place">
      <PinIcon />
      <span class="card-words">
        {place.name !== "" && <bdi class="card-label">{plain(place.name)}</bdi>}
        {place.address !== "" && <bdi class="card-caption">{plain(place.address)}</bdi>}
        <span class="host" dir="ltr">{degrees(latitude)}, {degrees(longitude)}</span>
        {map !== null && <a href={map} target="_blank" rel="noreferrer noopener">Open the map</a>}
      </span>
    </div>
  );
}
