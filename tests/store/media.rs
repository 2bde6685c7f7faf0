//! Media: bytes, lifetimes, the bound.
use crate::case::{Case, at, time};
use bytes::Bytes;
use contract::MediaId;
use tidings::store::{MEDIA_PIECE, MediaRow, MediaStored, Sweep};

crate::contract!(
    nt_66_bytes_come_back_in_pieces,
    nt_66_an_expiry_moves_up_and_never_down,
    nt_62_the_bound_sweeps_what_expired_and_then_refuses,
    nt_62_concurrent_puts_never_pass_the_bound,
    expired_media_are_gone_at_once_and_swept_later,
);

/// An id of its own for each number.
pub fn media(number: usize) -> MediaId {
    MediaId::from_random(&format!("{number:043}")).unwrap()
}

/// A row that expires then.
pub fn row(number: usize, size: usize, expires: i64) -> MediaRow {
    MediaRow {
        id: media(number),
        content_type: "image/png".into(),
        size: size as u64,
        sha256: "ab".repeat(32),
        created: time(0),
        expires: time(expires),
        by: "ops".into(),
    }
}

async fn put(case: &Case, number: usize, size: usize, expires: i64, max: u64) -> MediaStored {
    let bytes = Bytes::from(vec![u8::try_from(number).unwrap(); size]);
    case.store.media_put(row(number, size, expires), bytes, max, at(0)).await.unwrap()
}

async fn nt_66_bytes_come_back_in_pieces(case: Case) {
    let piece = usize::try_from(MEDIA_PIECE).unwrap();
    let bytes: Bytes = (0..piece + 1000).map(|n| u8::try_from(n % 251).unwrap()).collect();
    let row = row(1, bytes.len(), 100);
    let stored = case.store.media_put(row.clone(), bytes.clone(), 1 << 30, at(0)).await;
    assert_eq!(stored, Ok(MediaStored::Stored));
    let read = async |offset| case.store.media_read(&media(1), offset, at(1)).await.unwrap();
    assert_eq!(read(0).await, Some(bytes.slice(..piece)));
    assert_eq!(read(MEDIA_PIECE).await, Some(bytes.slice(piece..)));
    assert_eq!(read(7).await, Some(bytes.slice(7..piece + 7)));
    assert_eq!(read(bytes.len() as u64).await, Some(Bytes::new()));
    assert_eq!(read(u64::from(u32::MAX)).await, Some(Bytes::new()));
    assert_eq!(case.store.media_row(&media(1), at(1)).await, Ok(Some(row.clone())));
    assert_eq!(case.store.media_row(&media(2), at(1)).await, Ok(None));
    assert_eq!(case.store.media_read(&media(2), 0, at(1)).await, Ok(None));
    // A repeat after a lost answer stores nothing twice.
    case.store.media_put(row, bytes.clone(), 1 << 30, at(0)).await.unwrap();
    assert_eq!(case.store.media_bytes().await, Ok(bytes.len() as u64));
}

async fn nt_66_an_expiry_moves_up_and_never_down(case: Case) {
    for (number, expires) in [(1, 100), (2, 100), (3, 900)] {
        put(&case, number, 10, expires, 1000).await;
    }
    let ids = [media(1), media(9), media(3), media(1)];
    case.store.media_keep(&ids, time(500), at(50)).await.unwrap();
    let there = async |now| {
        let mut numbers = Vec::new();
        for number in 1..=3 {
            if case.store.media_row(&media(number), at(now)).await.unwrap().is_some() {
                numbers.push(number);
            }
        }
        numbers
    };
    assert_eq!(there(99).await, [1, 2, 3]);
    assert_eq!(there(100).await, [1, 3]);
    assert_eq!(there(500).await, [3]);
    case.store.media_keep(&[media(2)], time(9_000), at(100)).await.unwrap();
    assert_eq!(there(100).await, [1, 3], "what expired does not come back");
    assert_eq!(case.store.sweep(Sweep::Media, 200, at(499)).await, Ok(1));
    assert_eq!(case.store.sweep(Sweep::Media, 200, at(500)).await, Ok(1));
    assert_eq!(there(899).await, [3]);
}

async fn nt_62_the_bound_sweeps_what_expired_and_then_refuses(case: Case) {
    assert_eq!(put(&case, 1, 60, 100, 100).await, MediaStored::Stored);
    assert_eq!(put(&case, 2, 41, 100, 100).await, MediaStored::Full);
    assert_eq!(case.store.media_row(&media(2), at(0)).await, Ok(None));
    assert_eq!(case.store.media_bytes().await, Ok(60));
    assert_eq!(put(&case, 3, 40, 200, 100).await, MediaStored::Stored);
    // A hundred milliseconds later the first has expired, and makes room by that.
    let late = row(4, 60, 900);
    let stored = case.store.media_put(late, vec![4; 60].into(), 100, at(100)).await;
    assert_eq!(stored, Ok(MediaStored::Stored));
    assert_eq!(case.store.media_bytes().await, Ok(100));
    let more = case.store.media_put(row(5, 1, 900), vec![5; 1].into(), 100, at(100)).await;
    assert_eq!(more, Ok(MediaStored::Full));
    let read = case.store.media_read(&media(3), 0, at(100)).await;
    assert_eq!(read, Ok(Some(vec![3; 40].into())), "what stood stands");
}

async fn nt_62_concurrent_puts_never_pass_the_bound(case: Case) {
    let puts: Vec<_> = (0..20)
        .map(|number| {
            let store = case.store.clone();
            tokio::spawn(async move {
                store.media_put(row(number, 30, 900), vec![1; 30].into(), 100, at(0)).await
            })
        })
        .collect();
    let mut stored = 0;
    for put in puts {
        stored += usize::from(put.await.unwrap() == Ok(MediaStored::Stored));
    }
    assert_eq!(stored, 3);
    assert_eq!(case.store.media_bytes().await, Ok(90));
}

async fn expired_media_are_gone_at_once_and_swept_later(case: Case) {
    for number in 1..=5 {
        put(&case, number, 10, i64::try_from(number).unwrap() * 100, 1000).await;
    }
    assert_eq!(case.store.media_read(&media(1), 0, at(100)).await, Ok(None));
    assert_eq!(case.store.media_bytes().await, Ok(50));
    assert_eq!(case.store.sweep(Sweep::Media, 2, at(300)).await, Ok(2));
    assert_eq!(case.store.media_bytes().await, Ok(30));
    assert_eq!(case.store.sweep(Sweep::Media, 200, at(300)).await, Ok(1));
    assert_eq!(case.store.sweep(Sweep::Media, 200, at(300)).await, Ok(0));
    assert_eq!(case.store.media_bytes().await, Ok(20));
    assert_eq!(case.store.media_read(&media(4), 0, at(300)).await, Ok(Some(vec![4; 10].into())));
}
