//! Tests of the ids of a segment.

use super::*;

fn built(ids: &[i64]) -> Ids {
    let mut builder = IdsBuilder::new();
    ids.iter().for_each(|id| builder.push(&Id::Int(*id)));
    builder.finish()
}

#[test]
fn consecutive_integers_are_stored_as_the_first() {
    for (ids, stored) in [
        (&[][..], 0),
        (&[7], 1),
        (&[-1, 0, 1, 2], 1),
        (&[i64::MAX - 1, i64::MAX], 1),
        (&[i64::MAX, i64::MIN], 2),
        (&[3, 4, 6], 3),
        (&[2, 1], 2),
    ] {
        let built = built(ids);
        assert_eq!(built.ints.len(), stored);
        assert_eq!(built.validate(ids.len()), Ok(()));
        let locals: Vec<u32> = (0..ids.len() as u32).collect();
        let mut read = Vec::new();
        built.extend_ints(&locals, &mut read);
        assert_eq!(read, ids);
        assert!(locals.iter().all(|local| built.get(*local as usize) == Id::Int(ids[*local as usize])));
        assert_eq!(built.find(&Id::Int(i64::MIN + 1)), None);
    }
}

/// Undoes [`mix`].
fn unmix(mut hash: u64) -> i64 {
    hash ^= (hash >> 31) ^ (hash >> 62);
    hash = hash.wrapping_mul(0x3196_42B2_D24D_8EC3);
    hash ^= (hash >> 27) ^ (hash >> 54);
    hash = hash.wrapping_mul(0x96DE_1B17_3F11_9089);
    hash ^= (hash >> 30) ^ (hash >> 60);
    hash as i64
}

/// Quadratic time would be 10^10 probes.
#[test]
fn ids_that_share_a_bucket_take_linear_time() {
    for bucket in [0, 5, u32::MAX] {
        let ids: Vec<i64> = (0..100_000).map(|n| unmix(n << 32 | u64::from(bucket))).collect();
        assert!(ids.iter().all(|id| mix(*id) as u32 == bucket));
        let built = built(&ids);
        assert_eq!(built.validate(ids.len()), Ok(()));
        assert_eq!(built.find(&Id::Int(unmix(1 << 63 | u64::from(bucket)))), None);
    }
}

/// Every table is one of linear probing, for readers that know nothing of how it was filled.
#[test]
fn few_ids_are_found_by_probing() {
    for len in 0..400 {
        let ids: Vec<i64> =
            (0..len).map(|n| unmix((n as u64) << 32 | [0, 0x1FF, 0x1FE][n as usize % 3])).collect();
        let built = built(&ids);
        let probed = |id: &i64| built.slices().find(&built.table, &Id::Int(*id)).ok().flatten();
        assert!(ids.iter().enumerate().all(|(local, id)| probed(id) == Some(local as u32)), "{len}");
    }
}
